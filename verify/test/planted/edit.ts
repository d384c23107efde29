// One place of a source with a bug in it.

/** `find` is in the file exactly once. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

export function edited(source: string, { file, find, put }: Edit): string {
  if (find === put) throw new Error(`${file}: changes nothing: ${find}`);
  if (source.split(find).length !== 2) throw new Error(`${file}: not exactly once: ${find}`);
  return source.replace(find, () => put);
}
