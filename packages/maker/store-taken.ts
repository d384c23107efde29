/** Another process has the store. */
export class StoreTaken extends Error {
  override name = 'StoreTaken';
}
