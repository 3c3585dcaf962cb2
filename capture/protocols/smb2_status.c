// SPDX-License-Identifier: Apache-2.0
// In: an NT status (MS-ERREF, 2.3). Out: its name, for those that file servers answer with.
#include "capture/protocols/smb2_message.h"

static const struct {
    guint32 code;
    const char *name;
} names[] = {
    {0x00000000, "ok"},
    {0x00000103, "PENDING"},
    {0x0000010b, "NOTIFY_CLEANUP"},
    {0x0000010c, "NOTIFY_ENUM_DIR"},
    {0x80000005, "BUFFER_OVERFLOW"},
    {0x80000006, "NO_MORE_FILES"},
    {0x8000002d, "STOPPED_ON_SYMLINK"},
    {0xc0000001, "UNSUCCESSFUL"},
    {0xc0000002, "NOT_IMPLEMENTED"},
    {0xc0000003, "INVALID_INFO_CLASS"},
    {0xc0000004, "INFO_LENGTH_MISMATCH"},
    {0xc0000008, "INVALID_HANDLE"},
    {0xc000000d, "INVALID_PARAMETER"},
    {0xc000000e, "NO_SUCH_DEVICE"},
    {0xc000000f, "NO_SUCH_FILE"},
    {0xc0000010, "INVALID_DEVICE_REQUEST"},
    {0xc0000011, "END_OF_FILE"},
    {0xc0000016, "MORE_PROCESSING_REQUIRED"},
    {0xc0000022, "ACCESS_DENIED"},
    {0xc0000023, "BUFFER_TOO_SMALL"},
    {0xc0000033, "OBJECT_NAME_INVALID"},
    {0xc0000034, "OBJECT_NAME_NOT_FOUND"},
    {0xc0000035, "OBJECT_NAME_COLLISION"},
    {0xc000003a, "OBJECT_PATH_NOT_FOUND"},
    {0xc0000043, "SHARING_VIOLATION"},
    {0xc0000054, "FILE_LOCK_CONFLICT"},
    {0xc0000055, "LOCK_NOT_GRANTED"},
    {0xc0000056, "DELETE_PENDING"},
    {0xc000005e, "NO_LOGON_SERVERS"},
    {0xc0000064, "NO_SUCH_USER"},
    {0xc000006a, "WRONG_PASSWORD"},
    {0xc000006d, "LOGON_FAILURE"},
    {0xc000006e, "ACCOUNT_RESTRICTION"},
    {0xc0000071, "PASSWORD_EXPIRED"},
    {0xc0000072, "ACCOUNT_DISABLED"},
    {0xc000007e, "RANGE_NOT_LOCKED"},
    {0xc000007f, "DISK_FULL"},
    {0xc000009a, "INSUFFICIENT_RESOURCES"},
    {0xc00000a2, "MEDIA_WRITE_PROTECTED"},
    {0xc00000ac, "PIPE_NOT_AVAILABLE"},
    {0xc00000ae, "PIPE_BUSY"},
    {0xc00000b0, "PIPE_DISCONNECTED"},
    {0xc00000b5, "IO_TIMEOUT"},
    {0xc00000ba, "FILE_IS_A_DIRECTORY"},
    {0xc00000bb, "NOT_SUPPORTED"},
    {0xc00000c9, "NETWORK_NAME_DELETED"},
    {0xc00000cc, "BAD_NETWORK_NAME"},
    {0xc00000d0, "REQUEST_NOT_ACCEPTED"},
    {0xc0000101, "DIRECTORY_NOT_EMPTY"},
    {0xc0000103, "NOT_A_DIRECTORY"},
    {0xc0000120, "CANCELLED"},
    {0xc0000121, "CANNOT_DELETE"},
    {0xc0000128, "FILE_CLOSED"},
    {0xc000014b, "PIPE_BROKEN"},
    {0xc000019c, "FS_DRIVER_REQUIRED"},
    {0xc0000203, "USER_SESSION_DELETED"},
    {0xc000020c, "CONNECTION_DISCONNECTED"},
    {0xc0000225, "NOT_FOUND"},
    {0xc0000234, "ACCOUNT_LOCKED_OUT"},
    {0xc0000257, "PATH_NOT_COVERED"},
    {0xc0000275, "NOT_A_REPARSE_POINT"},
    {0xc000035c, "NETWORK_SESSION_EXPIRED"},
};

gsize bb_smb2_status_format(guint32 status, char *out, gsize size)
{
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (names[i].code == status)
            return g_strlcpy(out, names[i].name, size);
    return (gsize)g_snprintf(out, size, "0x%08X", status);
}
