"""Ops of the debugger."""

from .call import R
from .registry import case

case("Copy")(lambda call: R.Copy(input=call.floats()))
case("CopyHost")(lambda call: R.CopyHost(input=call.floats()))
case("DebugIdentity", "DebugIdentityV2", "DebugIdentityV3")(lambda call: R.DebugIdentityV2(input=call.floats()))
case("DebugNanCount")(lambda call: R.DebugNanCount(input=call.floats()))
case("DebugNumericSummary")(lambda call: R.DebugNumericSummary(input=call.floats()))
