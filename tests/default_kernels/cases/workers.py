"""Ops of several workers, which have a group of one here."""

import numpy as np

from .call import R
from .registry import case, uncalled


def collective(op):
    def run(call):
        group = dict(group_size=call.tensor(np.int32(1)), group_key=call.tensor(np.int32(7)), instance_key=call.tensor(np.int32(9)))
        reduction = dict(merge_op="Add", final_op="Id") if "Reduce" in op else {}
        return getattr(R, op)(input=call.floats(), ordering_token=[], communication_hint="auto", timeout_seconds=5, **group, **reduction)

    return run


case("CollectiveReduceV2", modes=("eager",))(collective("CollectiveReduceV2"))
case("CollectiveGatherV2", modes=("eager",))(collective("CollectiveGatherV2"))

uncalled("needs a group of workers", "CollectiveAllToAllV2", "CollectiveAssignGroupV2", "CollectiveBcastRecv", "CollectiveBcastRecvV2",
         "CollectiveBcastSend", "CollectiveBcastSendV2", "CollectiveReduceScatterV2")
