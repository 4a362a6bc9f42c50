//! The plugin under test, its client and its devices, for all checks.

use std::path::Path;

use sp_host::child_checks::Stop;
use sp_ir::Api;

use crate::buffer::{Buffer, HostArray};
use crate::demand::HostDemand;
use crate::hosts::PjrtHost;
use crate::memory;
use crate::plugin::{Called, Plugin};

/// The host and the plugin of a check.
pub(crate) struct Session<'a> {
    pub host: &'static PjrtHost,
    pub demand: &'a HostDemand,
    pub api: &'a Api,
    pub path: &'a Path,
}

impl<'a> Session<'a> {
    /// Loads the plugin and calls PJRT_Plugin_Initialize. If that fails, the check is skipped, since other checks report it.
    pub fn plugin(&self) -> Result<Plugin<'a>, Stop> {
        let plugin = self
            .uninitialized()
            .map_err(|_| skip("load", "pjrt_entry_point"))?;
        let initialized = plugin.call("Plugin_Initialize", &[]);
        initialized.map_err(|_| skip("initialize", "pjrt_initialization"))?;
        Ok(plugin)
    }

    /// Loads the plugin.
    pub fn uninitialized(&self) -> Result<Plugin<'a>, Stop> {
        Plugin::load(self.host, self.demand, self.api, self.path)
    }

    /// Creates a client. If that fails, the check is skipped, since `pjrt_client` reports it.
    pub fn client(&self) -> Result<Client<'a>, Stop> {
        Client::new(self.plugin()?).map_err(|_| skip("create a client", "pjrt_client"))
    }

    /// Creates a client with an addressable device.
    pub fn device(&self) -> Result<Device<'a>, Stop> {
        let client = self.client()?;
        let devices = client.list("Client_AddressableDevices", "addressable_devices")?;
        match devices.first() {
            Some(&handle) => Ok(Device { client, handle }),
            None => Err(Stop::Skip("the client has no addressable device".into())),
        }
    }
}

fn skip(what: &str, check: &str) -> Stop {
    Stop::Skip(format!("the plugin does not {what}: see {check}"))
}

/// A client of the plugin.
pub(crate) struct Client<'a> {
    pub plugin: Plugin<'a>,
    pub handle: u64,
}

impl<'a> Client<'a> {
    /// Creates a client without options.
    pub fn new(plugin: Plugin<'a>) -> Result<Self, Stop> {
        let handle = create(&plugin)?;
        Ok(Self { plugin, handle })
    }

    /// Calls `function` with this client and the inputs `set`.
    pub fn call(&self, function: &str, set: &[(&str, u64)]) -> Result<crate::args::Args<'a>, Stop> {
        self.plugin.require(function, self.try_call(function, set)?)
    }

    /// Calls `function`, which may fail.
    pub fn try_call(&self, function: &str, set: &[(&str, u64)]) -> Result<Called<'a>, Stop> {
        let set = [&[("client", self.handle)], set].concat();
        self.plugin.try_call(function, &set)
    }

    /// Returns the pointers in the list `field` that `function` returns, none of which may be null.
    pub fn list(&self, function: &str, field: &str) -> Result<Vec<u64>, Stop> {
        list(&self.plugin, function, &[("client", self.handle)], field)
    }

    /// Returns a text of the client.
    pub fn text(&self, function: &str, field: &str) -> Result<String, Stop> {
        let args = self.call(function, &[])?;
        self.plugin.text(&args, field)
    }

    /// Destroys the client.
    pub fn destroy(&self) -> Result<(), Stop> {
        self.call("Client_Destroy", &[]).map(drop)
    }
}

/// Creates a client without options, and returns it.
pub(crate) fn create(plugin: &Plugin<'_>) -> Result<u64, Stop> {
    plugin.call("Client_Create", &[])?.pointer("client")
}

/// Returns the pointers in the list `field` that `function` returns, none of which may be null.
pub(crate) fn list(
    plugin: &Plugin<'_>,
    function: &str,
    set: &[(&str, u64)],
    field: &str,
) -> Result<Vec<u64>, Stop> {
    let args = plugin.call(function, set)?;
    let count = args.get(&format!("num_{field}"))? as usize;
    let items = memory::words(args.get(field)?, count, field)?;
    match items.contains(&0) {
        true => Err(Stop::Fail(format!("PJRT_{function} lists a null pointer"))),
        false => Ok(items),
    }
}

/// An addressable device with its client.
pub(crate) struct Device<'a> {
    pub client: Client<'a>,
    pub handle: u64,
}

impl<'a> Device<'a> {
    /// Returns the plugin.
    pub fn plugin(&self) -> &Plugin<'a> {
        &self.client.plugin
    }

    /// Calls `function` of the device.
    pub fn call(&self, function: &str, set: &[(&str, u64)]) -> Result<crate::args::Args<'a>, Stop> {
        let set = [&[("device", self.handle)], set].concat();
        self.plugin().call(function, &set)
    }

    /// Copies `array` to the device and waits until the host's memory is free again.
    pub fn put(&self, array: &HostArray) -> Result<Buffer<'_, 'a>, Stop> {
        let (buffer, done) = self.put_with(array, "kImmutableOnlyDuringCall", &[])?;
        buffer.finish(done)?;
        Ok(buffer)
    }

    /// Copies `array` to the device with these semantics and further inputs. Returns the buffer and its event.
    pub fn put_with(
        &self,
        array: &HostArray,
        semantics: &str,
        set: &[(&str, u64)],
    ) -> Result<(Buffer<'_, 'a>, u64), Stop> {
        let called = self.try_put(array, semantics, set)?;
        let args = self
            .plugin()
            .require("Client_BufferFromHostBuffer", called)?;
        let buffer = Buffer::new(self.plugin(), args.pointer("buffer")?);
        Ok((buffer, args.pointer("done_with_host_buffer")?))
    }

    /// Copies `array` to the device, which may fail.
    pub fn try_put(
        &self,
        array: &HostArray,
        semantics: &str,
        set: &[(&str, u64)],
    ) -> Result<Called<'a>, Stop> {
        let semantics = self
            .plugin()
            .value(&format!("PJRT_HostBufferSemantics_{semantics}"))?;
        let inputs = [
            ("client", self.client.handle),
            ("data", array.bytes.as_ptr() as u64),
            ("type", array.element),
            ("dims", array.dims.as_ptr() as u64),
            ("num_dims", array.dims.len() as u64),
            ("host_buffer_semantics", semantics),
        ];
        let is_set = |name: &str| set.iter().any(|(path, _)| *path == name);
        let device = [("device", self.handle)];
        let device = if is_set("memory") { &[][..] } else { &device };
        let inputs = inputs.iter().filter(|(path, _)| !is_set(path));
        let all: Vec<_> = inputs.chain(device).chain(set).copied().collect();
        self.plugin().try_call("Client_BufferFromHostBuffer", &all)
    }
}
