//! Resource limits of a child, set before the plugin is loaded.

/// Maximum size of a file that a plugin writes, in bytes. Caches of compiled kernels are far smaller.
const FILE_SIZE: libc::rlim_t = 1 << 30;

/// Sets the limits of this process and of those that it starts.
///
/// Address space is not limited: drivers and sanitizers reserve terabytes of it, and a check requests
/// more memory than exists. The number of processes is not limited, since that limit counts all of the user.
pub(super) fn set() {
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_FSIZE, FILE_SIZE);
}

fn limit(resource: libc::__rlimit_resource_t, most: libc::rlim_t) {
    let mut limits = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limits` is filled, then read. A limit is lowered only, which is always allowed.
    unsafe {
        if libc::getrlimit(resource, &raw mut limits) == 0 {
            limits.rlim_cur = limits.rlim_cur.min(most);
            limits.rlim_max = limits.rlim_max.min(most);
            libc::setrlimit(resource, &raw const limits);
        }
    }
}
