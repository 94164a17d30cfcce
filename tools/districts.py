"""Districts and rooms of src/, as CMake knows them.

A district is a folder of src/ that the line `foreach(district …)` of CMakeLists.txt names. A room is a library: an
hlosim_library() line of src/<district>/CMakeLists.txt. Its files are those of src/<district>/<room>; the room that has its
district's name has the other files of the district. Either way its headers are included as "<room>/<file>.h".

  rooms = Rooms(root)
  rooms.room_of("src/ir/hlo/module.h")        # "hlo"
  rooms.include_name("src/ir/hlo/module.h")   # "hlo/module.h"
  rooms.path_of("hlo/module.h")               # "src/ir/hlo/module.h"
"""
import re

DISTRICTS = re.compile(r"^foreach\(district ([^)]*)\)", re.M)
LIBRARY = re.compile(r"^hlosim_library\((\w+)([^)]*)\)", re.M)
PROGRAMS = ("main", "python")  # folders of src/apps that are no libraries


class Room:
    """A library: its district, the rooms and targets of which it may include, and where CMake says so."""

    def __init__(self, name, district, words, place):
        self.name = name
        self.district = district
        names = re.split(r"\b(?:PRIVATE|INTERNAL|NATIVE)\b", words)[0].split()
        self.uses = [used for used in names if "::" not in used and "$" not in used]
        self.place = place


class Rooms:
    def __init__(self, root):
        found = DISTRICTS.search((root / "CMakeLists.txt").read_text(encoding="utf-8"))
        self.root = root
        self.districts = found.group(1).split() if found else []
        self.all = {}  # by name, in the order of the districts and of their lines
        self.twice = []  # places of lines for rooms that another line has
        for district in self.districts:
            self._read(district)

    def _read(self, district):
        name = f"src/{district}/CMakeLists.txt"
        path = self.root / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for match in LIBRARY.finditer(text):
            place = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            room = Room(match.group(1), district, match.group(2), place)
            if room.name in self.all:
                self.twice.append(room)
            else:
                self.all[room.name] = room

    def room_of(self, path):
        """The room, or the program, of a file that is named from the root; None outside of all."""
        parts = path.split("/")
        if len(parts) < 3 or parts[0] != "src" or parts[1] not in self.districts:
            return None
        district, inner = parts[1], parts[2] if len(parts) > 3 else None
        if inner in PROGRAMS and district == "apps":
            return inner
        if inner in self.all and self.all[inner].district == district and inner != district:
            return inner
        return district if district in self.all and self.all[district].district == district else None

    def include_name(self, path):
        """How an include names a file that is named from the root."""
        room = self.room_of(path)
        parts = path.split("/")
        return "/".join(parts[1:] if room == parts[1] or room is None else parts[2:])

    def path_of(self, include_name):
        """Where the file of an include is or would be; None for a folder that is no room."""
        folder = include_name.split("/")[0]
        if folder in PROGRAMS:
            return f"src/apps/{include_name}"
        room = self.all.get(folder)
        if room is None:
            return None
        return f"src/{include_name}" if room.name == room.district else f"src/{room.district}/{include_name}"
