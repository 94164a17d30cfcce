// What an opcode is to the parts of the program that move, fuse, place and count instructions: columns that
// every row of the opcode table fills in.
//
//   constexpr OpDef kSliceOp = {.name = "slice", …, .rules = {FusionRule::kPart, LayoutRole::kLike, …}};
//   if (table[instruction.opcode].rules.fusion == FusionRule::kPart) …
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlosim {

/// A column without a default: a row that leaves it out doesn't compile.
template <class T>
class OpColumn {
 public:
  constexpr OpColumn(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

/// What part it can take in a fusion (ops/fusion_role.h).
enum class FusionRule : uint8_t {
  kNever,         // runs on its own
  kElement,       // element i of the result depends on elements i of the operands
  kFill,          // makes its elements from few or none
  kFillOfScalar,  // the same if it is a scalar
  kReindex,       // operand 0's elements in row-major order under other dimensions
  kPart,          // a part or an arrangement of its operands
  kCopy,          // the same array in another layout or place
  kReduce,
  kProduct,
  kEndsUpdate,  // can be the end of a fusion that computes its operands but the first, which is changed in
                // place
  kEndsAll,     // can be the end of a fusion that computes all its operands
};

/// How the layouts of its operands and its result hang together (ops/layout_rule.h).
enum class LayoutRole : uint8_t {
  kKeep,     // what else is possible than what the text gives is not known
  kHandsOn,  // shares memory with its operands or with the computations that it calls: the same on both sides
  kAny,      // makes any layout; its operands don't matter
  kLike,     // operands: dimensions in the order in which the result has them
  kCopy,     // takes and makes any
  kReshape,
  kTranspose,
  kBroadcast,
  kReduce,
  kProduct,
};

/// What the places {…} inside a result hold. "Makes": memory of the instruction's own.
enum class ValueRule : uint8_t {
  kMakesAll,
  kParameter,       // what the caller passes; everything where nothing is passed
  kTuple,           // makes the table {}; {i…} is operand i
  kShallowCopy,     // makes {}; the rest is the operand's
  kForwards,        // all of operand 0
  kElement,         // an element of operand 0
  kLoop,            // the initial state or the body's result
  kConditional,     // the result of one of the branches
  kCall,            // the callee's result
  kCopyStart,       // makes {}, {0} and {2}; {1} is the operand
  kCopyDone,        // element {0} of the operand
  kAsyncStart,      // makes its tables and contexts; {0,i} is operand i, {1} the callee's result
  kAsyncUpdate,     // makes its tables and contexts; the rest is the operand's
  kAsyncDone,       // makes its tables; the rest is {1} of the operand
  kAllGatherStart,  // makes its tables and {1…}; {0…} are the operands
  kAllGatherDone,   // makes {} if that is a table; the rest is {1…} of the operand
  kPermuteStart,    // makes {}, {1…} and contexts; {0…} are the operands
  kPermuteDone,     // as kAllGatherDone
  kSend,            // makes {}, {1} and {2}; {0…} is the operand
  kRecvDone,        // makes {} and {1}; {0…} is {0…} of the operand
};

/// Which parts of an operand are read.
enum class UseRule : uint8_t { kAll, kTop, kNone };

/// How called computations run: as part of the caller's schedule, with memory of their own, or once per
/// element, as reducers and the bodies of fusions do.
enum class CallRule : uint8_t { kNone, kControlFlow, kEmbedded };

/// Which outputs have to lie where an operand lies (ops/dataflow.h, in_place_pairs).
enum class InPlaceRule : uint8_t {
  kNone,
  kFirst,         // the result in operand 0
  kSecond,        // the result in operand 1
  kEach,          // output i in operand i
  kEachUpdated,   // the same of the arrays that a scatter changes
  kPermute,       // the result in operand 1, where there are four operands
  kPermuteStart,  // element {1} of the result the same way
  kFused,         // what the updates inside say, then as kStated
  kStated,        // what output_to_operand_aliasing says
};

/// When the result may take the place of an operand that nobody needs any more (memory/overwrite.h).
enum class OverwriteRule : uint8_t {
  kNever,
  kByElement,  // always: element i is written after elements i were read
  kSameWidth,  // as kByElement where an element stays as wide
  kOfScalar,   // as kByElement where the operand is a scalar
  kFused,      // what is inside decides
  kBodies,     // the computations that it calls decide
  kFirst,      // operand 0 only, once
  kUpdate,     // the same; inside a fusion it goes element by element for operand 0
  kSecond,     // operand 1 only, once
  kSorted,     // output i in operand i
};

/// What goes on while it is in flight, begun by an opcode of its own or wrapped in async-start.
enum class AsyncKind : uint8_t {
  kAllGather,
  kAllReduce,
  kAllToAll,
  kBroadcast,
  kPermute,
  kRaggedAllToAll,
  kReduceScatter,
  kCopy,
  kCompute,  // a computation beside the TensorCore
  kSendRecv,
  kSendHost,  // in the table: send, to the host or another device
  kRecvHost,  // the same of recv
  kNone,
};
inline constexpr size_t kAsyncKindCount = static_cast<size_t>(AsyncKind::kNone);

/// What it is in an asynchronous chain.
enum class AsyncPart : uint8_t {
  kNone,
  kSplits,   // a collective with a start and a done of its own kind
  kWrapped,  // a collective that async-start wraps
  kStart,    // begins what the done of its kind ends
  kDone,
  kChain,   // async-start, async-update, async-done: wrap a computation
  kPasses,  // hands the values of a chain on, as they are or as parts of tuples
  kBounds,  // may take the values of a chain, but what lies before it isn't looked for
  kEnters,  // control flow: a chain goes on in the computations that it calls
  kNotes,   // a custom call: an annotation passes values on
};

/// Where buffers, values b(…) that are changed in place, may stand (modules/buffers_check.h).
enum class BufferRule : uint8_t {
  kForbidden,
  kForbiddenWrites,  // and what it is given counts as written
  kHandsOn,
  kParameter,  // not of the entry computation
  kLoop,
  kCall,
  kCustomCall,
  kUpdate,
};

/// What the number in an integer scalar is, for counting the turns of loops (modules/trip_count.h).
enum class NumberRule : uint8_t {
  kComputed,
  kElement,  // of a tuple
  kTuple,
  kSame,         // that of operand 0
  kSameInteger,  // the same where both are integers of one element
  kCalled,       // the result of the called computation
  kParameter,
  kConstant,
};

/// How the sizes of its operands' and its result's dimensions hang together (loop_factors/factors.h).
enum class DimensionRule : uint8_t {
  kFixed,     // not known: all stay as they are
  kFree,      // each dimension on its own
  kForwards,  // values are handed on, as `forward` says
  kEach,      // leaf i of the result has the dimensions of leaf i of the operands
  kElement,   // all arrays have the same dimensions; scalars may stand for them
  kCalled,    // what the computations that it calls say
  kBySize,    // unknown, but dimensions of one size are taken to belong together
  kBitcast,
  kRecast,  // as kElement, but for a last dimension that one side has alone
  kBroadcast,
  kReshape,
  kTranspose,
  kReduce,
  kProduct,
  kConvolution,
  kSlice,
  kPad,
  kConcatenate,
  kDynamicSlice,
  kDynamicUpdate,
  kGather,
  kScatter,
  kWindow,
  kSelectAndScatter,
  kSort,
  kTopK,
  kSquare,     // batches of square matrices, and right sides that fit them
  kBatchNorm,  // arrays, and lists along their feature dimension
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
};

/// The class of algebraic identities that it obeys.
enum class Identity : uint8_t {
  kNone,
  kSum,         // x + 0 = 0 + x = x
  kDifference,  // x - 0 = x; x - x = 0 of integers
  kProduct,     // x · 1 = 1 · x = x; x · 0 = 0 of integers
  kQuotient,    // x / 1 = x; x / 2^k = x · 2^-k of floats
  kPower,       // x ^ 1 = x; x ^ 2 = x · x
  kIdempotent,  // f(x, x) = x
  kInvolution,  // f(f(x)) = x
  kKeepsUnits,  // zeros and ones stay what they are: moves elements or changes their type
};

/// What an opcode is to others. Types differ, so that no two columns are taken for each other.
struct OpRules {
  OpColumn<FusionRule> fusion;
  OpColumn<LayoutRole> layout;
  OpColumn<ValueRule> value;
  OpColumn<UseRule> use;
  OpColumn<CallRule> call;
  OpColumn<InPlaceRule> in_place;
  OpColumn<OverwriteRule> overwrite;
  OpColumn<AsyncKind> async_kind;
  OpColumn<AsyncPart> async_part;
  OpColumn<BufferRule> buffers;
  OpColumn<NumberRule> number;
  OpColumn<Identity> identity;
  OpColumn<DimensionRule> dimensions;
};

}  // namespace hlosim
