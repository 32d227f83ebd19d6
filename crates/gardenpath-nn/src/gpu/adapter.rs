//! The graphics card, which all engines of a process share.

use crate::error::{Error, Result};
use burn::tensor::Device;
use std::sync::OnceLock;

/// A card and what it is called.
struct Adapter {
    device: Device,
    description: String,
}

/// The card: it can be set up only once in a process.
fn adapter() -> Result<&'static Adapter> {
    static ADAPTER: OnceLock<std::result::Result<Adapter, String>> = OnceLock::new();
    ADAPTER.get_or_init(open).as_ref().map_err(|error| Error::Device(error.clone()))
}

/// The device for tensors.
pub fn device() -> Result<Device> {
    adapter().map(|adapter| adapter.device.clone())
}

/// The name of the card and the interface through which it is used, such as `llvmpipe (LLVM 15.0.6, 256 bits), Vulkan`.
///
/// Worth a look before a long run: a machine without the driver of its card may still offer a slow substitute.
///
/// # Errors
/// There is no card.
pub fn description() -> Result<String> {
    adapter().map(|adapter| adapter.description.clone())
}

#[cfg(not(feature = "cuda"))]
fn open() -> std::result::Result<Adapter, String> {
    let setup = Device::wgpu_options().init_with_setup();
    let (device, setup) = setup.map_err(|error| format!("no graphics card: {error}"))?;
    let info = setup.adapter.get_info();
    Ok(Adapter { device, description: format!("{}, {:?}", info.name, info.backend) })
}

#[cfg(feature = "cuda")]
fn open() -> std::result::Result<Adapter, String> {
    let cards = Device::enumerate(burn::tensor::DeviceType::Cuda);
    let device = cards.into_vec().into_iter().next().ok_or("no graphics card for CUDA")?;
    let name = device.identity().map_or_else(|| "a card without a name".into(), |identity| identity.name);
    Ok(Adapter { device, description: format!("{name}, CUDA") })
}
