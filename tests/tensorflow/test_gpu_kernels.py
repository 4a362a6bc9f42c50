"""The kernels of type GPU that TensorFlow's CPU build has: a new one needs a decision, since programs reach it on a plugin's device."""

import re

import pytest
import tensorflow as tf
from tensorflow.python.framework import kernels

from conftest import ROOT

REJECTED = ROOT / "macros" / "plugin" / "src" / "kernel" / "rejected.rs"
# They use host memory, handles and control flow only, or pass tensors on.
OF_HOST = set("""
    AnonymousIterator AnonymousIteratorV2 AnonymousIteratorV3 BatchFunction CheckPinned DebugGradientIdentity DeleteIterator
    DeserializeSparse DummyIterationCounter Enter Exit ExperimentalMapDataset ExperimentalSleepDataset Fact FinalizeDataset
    GeneratorDataset GetOptions Identity IsTensorFloat32Enabled IteratorFromStringHandleV2 IteratorGetNext IteratorGetNextAsOptional
    IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator Merge NextIteration OptionalFromValue OptionalGetValue
    OptionalHasValue OptionalNone OptionsDataset PlaceholderWithDefault PrefetchDataset PreventGradient RaggedTensorFromVariant
    RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch SleepDataset StopGradient Switch TensorArrayClose
    TensorArrayCloseV2 TensorArrayCloseV3 TensorArrayGrad TensorArrayGradV2 TensorArrayGradV3 TensorArrayGradWithShape
    TensorArraySize TensorArraySizeV2 TensorArraySizeV3 UnwrapDatasetVariant WrapDatasetVariant _EagerConst _ScopedAllocator
    _ScopedAllocatorConcat _ScopedAllocatorSplit _SwitchN
""".split())
# The plugin's kernels have a higher priority.
OF_PLUGIN = {"Reshape", "SquaredDifference"}
# MirroredStrategy and the strategies of several processes train with them: test_mirrored.py.
COLLECTIVE = {"CollectiveAllToAllV3", "CollectiveGather", "CollectiveInitializeCommunicator", "CollectiveReduce", "CollectiveReduceV3"}
# Functions that ask for XLA: functions.py and the SDK's optimizer change the request.
OF_FUNCTIONS = {"XlaLaunch", "_XlaCompile", "_XlaMerge", "_XlaRun"}
# From 2.18 on. MakeIterator of such a dataset on the device ends the process in 2.18, and is an error in 2.21 and 2.22.
UNSOLVED = {"DataServiceDatasetV4"}


@pytest.mark.skipif(tf.sysconfig.get_build_info()["is_cuda_build"], reason="a build with CUDA has a kernel of type GPU of most ops")
def test_each_kernel_of_type_gpu_is_known():
    registered = kernels.get_all_registered_kernels().kernel
    found = {it.op for it in registered if it.device_type == "GPU"}
    assert len(found) > 90
    listed = re.search(r"^rejections! { of_xla, .*?^}", REJECTED.read_text(), re.M | re.S)
    rejected = set(re.findall(r"\bXla\w+", listed[0]))
    assert len(rejected) > 30
    assert found - OF_HOST - OF_PLUGIN - COLLECTIVE - OF_FUNCTIONS - UNSOLVED - rejected == set()
