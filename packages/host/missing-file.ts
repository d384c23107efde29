// A file that may be missing.

/** For the `catch` of a read: null where there is no such file, which is no failure. */
export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
