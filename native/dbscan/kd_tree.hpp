// kd_tree.hpp: a kd-tree over the rows of a space, with leaves that vectors can scan.
//
// A sample decides the upper levels; every row is routed to a bucket in one pass, and each bucket
// is split in cache, always at the middle of its widest column. Leaves hold up to kLeaf points,
// one column after the other. The tree depends on the data only, not on the number of threads.
//
// T is float where float32 coordinates, centred and in units of eps, are fine enough to filter;
// the definition then decides pairs that are too close to tell. Else T is double.
#pragma once

#include <memory>

#include "core/memory.hpp"
#include "dbscan/metric.hpp"

namespace coterie::dbscan {

constexpr int kLeaf = 32; // at most 32: sets of points of a leaf are the bits of a word

// Boxes are padded so that vectors can compare them, unless there are very few columns.
COTERIE_INLINE constexpr int box_stride(int width) {
    return width <= 3 ? width : width <= 8 ? 8 : (width + 15) / 16 * 16;
}

struct TreeNode {
    int32_t child;  // the left one, the right one follows; kIsLeaf or kIsEmpty
    int32_t parent; // -1 for the root, which is node 0
    int32_t leaf;   // the first leaf below
    int32_t points; // below
};
constexpr int32_t kIsLeaf = -1, kIsEmpty = -2;

// The tree as kernels see it. Point k of leaf b has the slot b * kLeaf + k.
template <class T> struct TreeView {
    int width = 0;  // coordinates
    int stride = 0; // of boxes
    int64_t leaves = 0, nodes = 0;
    const TreeNode* node = nullptr;     // (nodes,)
    const T* boxes = nullptr;           // (nodes, 2, stride): lowest, highest; padding is zero
    const T* points = nullptr;          // (leaves, width, kLeaf)
    const int32_t* rows = nullptr;      // (leaves, kLeaf), -1 where a leaf has no point
    const uint32_t* filled = nullptr;   // (leaves,) which slots hold points
    const int32_t* leaf_node = nullptr; // (leaves,)
};

// The two limits of a sum of coordinates (squares, magnitudes, or the largest).
template <class T> struct Radii {
    T inner, outer;         // at most inner: nearby; above outer: not; between: ask the definition
    T box_inner, box_outer; // the same for whole boxes, with room for another order of additions
};

// The map from coordinates of the space to those of the tree: (x - centre) * unit.
struct TreeScaling {
    std::vector<double> centre; // (width,)
    double unit = 1.0;
    double reach = 0.0;  // the largest magnitude of a coordinate, in units
    bool single = false; // float32 is fine enough: its error is small against eps

    // One scaling for several spaces, so that their trees can be compared.
    static TreeScaling around(Team& team, const std::vector<const Space*>& spaces,
                              bool may_be_single = true);
};

template <class T> class Tree {
public:
    Tree(Team& team, const Space& space, const TreeScaling& scaling);
    TreeView<T> view() const;
    Radii<T> radii() const { return radii_; }

private:
    struct Bottom;
    void split(Bottom& bottom, int32_t node, int32_t begin, int32_t end, int32_t leaf,
               int32_t leaves);
    void make_leaf(Bottom& bottom, int32_t node, int32_t begin, int32_t end, int32_t leaf);
    void measure(const Bottom& bottom, int32_t node, int32_t begin, int32_t end);
    void enclose(int32_t node);
    void close_top(int64_t buckets);
    void set_radii(const Space& space, const TreeScaling& scaling);
    T* box(int32_t node) { return boxes_.data() + static_cast<int64_t>(node) * 2 * stride_; }

    int width_, stride_;
    int64_t leaves_ = 0, nodes_ = 0;
    Buffer<TreeNode> node_;
    Buffer<T> boxes_, points_;
    Buffer<int32_t> rows_, leaf_node_;
    Buffer<uint32_t> filled_;
    Radii<T> radii_{};
};

extern template class Tree<float>;
extern template class Tree<double>;

} // namespace coterie::dbscan
