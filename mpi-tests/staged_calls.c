/* SPDX-License-Identifier: BSD-3-Clause */
/* staged_calls.c - one function for each collective, in both forms. */
#include "staged.h"

static int call_Reduce(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Reduce_c(s, r, j->sn, j->stype, j->op, j->root, j->comm)
               : MPI_Reduce(s, r, j->sn, j->stype, j->op, j->root, j->comm);
}

static int call_Reduce_scatter(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Reduce_scatter_c(s, r, j->lrcounts, j->stype, j->op,
                                      j->comm)
               : MPI_Reduce_scatter(s, r, j->rcounts, j->stype, j->op, j->comm);
}

static int call_Reduce_scatter_block(const struct job *j, const void *s,
                                     void *r)
{
    return j->large ? MPI_Reduce_scatter_block_c(s, r, j->rn, j->stype, j->op,
                                                 j->comm)
                    : MPI_Reduce_scatter_block(s, r, j->rn, j->stype, j->op,
                                               j->comm);
}

static int call_Scan(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Scan_c(s, r, j->sn, j->stype, j->op, j->comm)
                    : MPI_Scan(s, r, j->sn, j->stype, j->op, j->comm);
}

static int call_Exscan(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Exscan_c(s, r, j->sn, j->stype, j->op, j->comm)
                    : MPI_Exscan(s, r, j->sn, j->stype, j->op, j->comm);
}

static int call_Reduce_local(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Reduce_local_c(s, r, j->sn, j->stype, j->op)
                    : MPI_Reduce_local(s, r, j->sn, j->stype, j->op);
}

static int call_Gather(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Gather_c(s, j->sn, j->stype, r, j->rn, j->rtype,
                                   j->root, j->comm)
                    : MPI_Gather(s, j->sn, j->stype, r, j->rn, j->rtype,
                                 j->root, j->comm);
}

static int call_Gatherv(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Gatherv_c(s, j->sn, j->stype, r, j->lrcounts,
                                    j->lrdispls, j->rtype, j->root, j->comm)
                    : MPI_Gatherv(s, j->sn, j->stype, r, j->rcounts, j->rdispls,
                                  j->rtype, j->root, j->comm);
}

static int call_Scatter(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Scatter_c(s, j->sn, j->stype, r, j->rn, j->rtype,
                                    j->root, j->comm)
                    : MPI_Scatter(s, j->sn, j->stype, r, j->rn, j->rtype,
                                  j->root, j->comm);
}

static int call_Scatterv(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Scatterv_c(s, j->lscounts, j->lsdispls, j->stype, r,
                                     j->rn, j->rtype, j->root, j->comm)
                    : MPI_Scatterv(s, j->scounts, j->sdispls, j->stype, r,
                                   j->rn, j->rtype, j->root, j->comm);
}

static int call_Allgatherv(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Allgatherv_c(s, j->sn, j->stype, r, j->lrcounts,
                                       j->lrdispls, j->rtype, j->comm)
                    : MPI_Allgatherv(s, j->sn, j->stype, r, j->rcounts,
                                     j->rdispls, j->rtype, j->comm);
}

static int call_Alltoall(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Alltoall_c(s, j->sn, j->stype, r, j->rn, j->rtype, j->comm)
               : MPI_Alltoall(s, j->sn, j->stype, r, j->rn, j->rtype, j->comm);
}

static int call_Alltoallv(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Alltoallv_c(s, j->lscounts, j->lsdispls, j->stype, r,
                                 j->lrcounts, j->lrdispls, j->rtype, j->comm)
               : MPI_Alltoallv(s, j->scounts, j->sdispls, j->stype, r,
                               j->rcounts, j->rdispls, j->rtype, j->comm);
}

static int call_Alltoallw(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Alltoallw_c(s, j->lscounts, j->lsbytes, j->stypes, r,
                                 j->lrcounts, j->lrbytes, j->rtypes, j->comm)
               : MPI_Alltoallw(s, j->scounts, j->sbytes, j->stypes, r,
                               j->rcounts, j->rbytes, j->rtypes, j->comm);
}

static int call_Neighbor_allgather(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Neighbor_allgather_c(s, j->sn, j->stype, r, j->rn,
                                               j->rtype, j->comm)
                    : MPI_Neighbor_allgather(s, j->sn, j->stype, r, j->rn,
                                             j->rtype, j->comm);
}

static int call_Neighbor_allgatherv(const struct job *j, const void *s, void *r)
{
    return j->large
               ? MPI_Neighbor_allgatherv_c(s, j->sn, j->stype, r, j->lrcounts,
                                           j->lrdispls, j->rtype, j->comm)
               : MPI_Neighbor_allgatherv(s, j->sn, j->stype, r, j->rcounts,
                                         j->rdispls, j->rtype, j->comm);
}

static int call_Neighbor_alltoall(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Neighbor_alltoall_c(s, j->sn, j->stype, r, j->rn,
                                              j->rtype, j->comm)
                    : MPI_Neighbor_alltoall(s, j->sn, j->stype, r, j->rn,
                                            j->rtype, j->comm);
}

static int call_Neighbor_alltoallv(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Neighbor_alltoallv_c(s, j->lscounts, j->lsdispls,
                                               j->stype, r, j->lrcounts,
                                               j->lrdispls, j->rtype, j->comm)
                    : MPI_Neighbor_alltoallv(s, j->scounts, j->sdispls,
                                             j->stype, r, j->rcounts,
                                             j->rdispls, j->rtype, j->comm);
}

static int call_Neighbor_alltoallw(const struct job *j, const void *s, void *r)
{
    return j->large ? MPI_Neighbor_alltoallw_c(s, j->lscounts, j->lsbytes,
                                               j->stypes, r, j->lrcounts,
                                               j->lrbytes, j->rtypes, j->comm)
                    : MPI_Neighbor_alltoallw(s, j->scounts, j->lsbytes,
                                             j->stypes, r, j->rcounts,
                                             j->lrbytes, j->rtypes, j->comm);
}

const struct function functions[] = {
    {"Reduce", call_Reduce, REDUCES | TO_ROOT | IN_PLACE},
    {"Reduce_scatter", call_Reduce_scatter, REDUCES | IN_PLACE},
    {"Reduce_scatter_block", call_Reduce_scatter_block, REDUCES | IN_PLACE},
    {"Scan", call_Scan, REDUCES | IN_PLACE | NO_INTER},
    {"Exscan", call_Exscan, REDUCES | IN_PLACE | NO_INTER},
    {"Reduce_local", call_Reduce_local, REDUCES | NO_INTER | LOCAL},
    {"Gather", call_Gather, TO_ROOT | IN_PLACE},
    {"Gatherv", call_Gatherv, TO_ROOT | IN_PLACE},
    {"Scatter", call_Scatter, FROM_ROOT | IN_PLACE},
    {"Scatterv", call_Scatterv, FROM_ROOT | IN_PLACE},
    {"Allgatherv", call_Allgatherv, IN_PLACE},
    {"Alltoall", call_Alltoall, IN_PLACE},
    {"Alltoallv", call_Alltoallv, IN_PLACE},
    {"Alltoallw", call_Alltoallw, IN_PLACE},
    {"Neighbor_allgather", call_Neighbor_allgather, NEIGHBORS | NO_INTER},
    {"Neighbor_allgatherv", call_Neighbor_allgatherv, NEIGHBORS | NO_INTER},
    {"Neighbor_alltoall", call_Neighbor_alltoall, NEIGHBORS | NO_INTER},
    {"Neighbor_alltoallv", call_Neighbor_alltoallv, NEIGHBORS | NO_INTER},
    {"Neighbor_alltoallw", call_Neighbor_alltoallw, NEIGHBORS | NO_INTER},
};
const int nfunctions = sizeof functions / sizeof functions[0];

void job_widen(struct job *j)
{
    for (int i = 0; i < MAX_BLOCKS; i++) {
        j->lscounts[i] = j->scounts[i];
        j->lrcounts[i] = j->rcounts[i];
        j->lsdispls[i] = j->sdispls[i];
        j->lrdispls[i] = j->rdispls[i];
        j->lsbytes[i] = j->sbytes[i];
        j->lrbytes[i] = j->rbytes[i];
    }
}
