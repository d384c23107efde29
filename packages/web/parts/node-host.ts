// How a node is named on a screen: its address may hold a key or a password.

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
