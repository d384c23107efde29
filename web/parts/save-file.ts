// A file that the page has made, saved on this machine.

/** The number of its bytes. */
export function saveFile(name: string, type: string, content: string): number {
  const blob = new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return blob.size;
}
