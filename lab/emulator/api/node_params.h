/* The parameters of a graph's nodes, in the one form that can describe them all. API functions for
 * a single type of node convert their parameters to this form. */
#ifndef NVSHARE_EMULATOR_NODE_PARAMS_H
#define NVSHARE_EMULATOR_NODE_PARAMS_H

#include "graph.h"

/* Adds a node that does what `params` says; memory nodes get their address there. */
CUresult node_add(CUgraph graph, const CUgraphNode *dependencies, size_t count,
                  CUgraphNodeParams *params, CUgraphNode *out);

/* Gives a node other parameters of the same type. */
CUresult node_set(CUgraphNode node, const CUgraphNodeParams *params);

/* Describes a node. The memory that the description points to belongs to the node. */
CUresult node_get(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams *out);

#endif
