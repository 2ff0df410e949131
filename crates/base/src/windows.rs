//! The few calls of Windows that std does not offer.
//!
//! # Safety
//! Each call gets pointers to values of ours that live until it returns, and their true lengths.
#![allow(unsafe_code)]
#![allow(clippy::cast_possible_truncation, reason = "the lengths are those of small values")]

use std::{io, mem, ptr};

use windows_sys::Win32::Globalization::{CP_ACP, MB_ERR_INVALID_CHARS, MultiByteToWideChar};
use windows_sys::Win32::System::Console::GetConsoleProcessList;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{
    ComputerNameDnsHostname, GetComputerNameExW, GlobalMemoryStatusEx, MEMORYSTATUSEX,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// The length of a structure, which its calls ask for.
const fn len_of<T>() -> u32 {
    mem::size_of::<T>() as u32
}

/// The error of a call that returned zero.
fn checked(returned: i32) -> io::Result<()> {
    if returned == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Puts this process into a job that kills all its processes when this one ends; processes that are started later belong
/// to it.
///
/// # Errors
/// When Windows refuses.
pub fn join_job() -> io::Result<()> {
    let limits = {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        limits
    };
    // The handle stays open until the process ends, which is what closes the job.
    let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
    if job.is_null() {
        return Err(io::Error::last_os_error());
    }
    checked(unsafe {
        SetInformationJobObject(
            job,
            JobObjectExtendedLimitInformation,
            ptr::from_ref(&limits).cast(),
            len_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>(),
        )
    })?;
    checked(unsafe { AssignProcessToJobObject(job, GetCurrentProcess()) })
}

/// The memory of this process in bytes, if Windows says.
pub fn resident() -> Option<u64> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let len = len_of::<PROCESS_MEMORY_COUNTERS>();
    checked(unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), ptr::from_mut(&mut counters), len) })
        .ok()?;
    u64::try_from(counters.WorkingSetSize).ok()
}

/// The memory of the machine in bytes, if Windows says.
pub fn memory() -> Option<u64> {
    let mut status = MEMORYSTATUSEX { dwLength: len_of::<MEMORYSTATUSEX>(), ..MEMORYSTATUSEX::default() };
    checked(unsafe { GlobalMemoryStatusEx(&raw mut status) }).ok()?;
    Some(status.ullTotalPhys)
}

/// The name of the machine, if Windows says.
pub fn host_name() -> Option<String> {
    let mut name = [0_u16; 256];
    let mut len = name.len() as u32;
    checked(unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut len) }).ok()?;
    Some(String::from_utf16_lossy(name.get(..len as usize)?))
}

/// Text in the code page of the system; `None` where a byte has no meaning in it.
pub fn from_ansi(bytes: &[u8]) -> Option<String> {
    let len = i32::try_from(bytes.len()).ok().filter(|len| *len > 0)?;
    let read = |out: *mut u16, room: i32| {
        let read =
            unsafe { MultiByteToWideChar(CP_ACP, MB_ERR_INVALID_CHARS, bytes.as_ptr(), len, out, room) };
        usize::try_from(read).ok().filter(|read| *read > 0)
    };
    let mut wide = vec![0_u16; read(ptr::null_mut(), 0)?];
    let written = read(wide.as_mut_ptr(), i32::try_from(wide.len()).ok()?)?;
    String::from_utf16(wide.get(..written)?).ok()
}

/// Whether this process alone uses its console window: a double click opened it, and it closes with us.
pub fn owns_console() -> bool {
    let mut processes = [0_u32; 2];
    let all = unsafe { GetConsoleProcessList(processes.as_mut_ptr(), processes.len() as u32) };
    all == 1
}
