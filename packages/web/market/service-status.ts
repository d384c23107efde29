// The market's own state at `/status`, which programs and people read without a key.

const audiences = ['webhooks', 'feed', 'messages'] as const;

type Audience = (typeof audiences)[number];

type ServiceStatus = {
  readonly version: string;
  /** RFC 3339: the process that answered. */
  readonly startedAt: string;
  readonly haltedAssets: readonly { readonly chain: string; readonly symbol: string }[];
  readonly delays: Readonly<Record<Audience, { readonly bySeconds: number }>>;
};

/** Throws where nobody answers. */
export async function serviceStatus(signal: AbortSignal): Promise<ServiceStatus> {
  const response = await fetch('/status', { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`/status answered ${response.status}`);
  return (await response.json()) as ServiceStatus;
}

/** Those that the market is behind with, and by how many seconds. */
export function lateFor({ delays }: ServiceStatus): [Audience, number][] {
  const all = audiences.map((each): [Audience, number] => [each, delays[each].bySeconds]);
  return all.filter(([, seconds]) => seconds > 0);
}
