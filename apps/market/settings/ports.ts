// Ports that webhooks of customers may name: single ones and ranges.

/** Both ends are in it. */
export type Ports = readonly [from: number, to: number];

const mostPort = 65_535;
/** Below it stand services of the system: 22, 25, 110 and so on. */
const firstFree = 1_024;

/**
 * Services that live above it and speak no HTTPS to strangers: databases, queues, containers,
 * remote desktops, nodes of chains, and what browsers refuse to call (WHATWG Fetch, "bad port").
 */
const ofServices = [
  [1_433, 1_433],
  [1_521, 1_521],
  [1_719, 1_723],
  [1_883, 1_883],
  [2_049, 2_049],
  [2_375, 2_380],
  [3_306, 3_306],
  [3_389, 3_389],
  [3_659, 3_659],
  [4_045, 4_045],
  [4_190, 4_190],
  [5_060, 5_061],
  [5_432, 5_432],
  [5_671, 5_672],
  [5_900, 5_901],
  [6_000, 6_000],
  [6_379, 6_379],
  [6_432, 6_432],
  [6_443, 6_443],
  [6_566, 6_566],
  [6_665, 6_669],
  [6_679, 6_697],
  [8_332, 8_333],
  [8_545, 8_546],
  [8_899, 8_900],
  [9_042, 9_042],
  [9_092, 9_092],
  [9_200, 9_300],
  [10_080, 10_080],
  [10_250, 10_250],
  [11_211, 11_211],
  [18_332, 18_333],
  [27_017, 27_019],
] as const satisfies readonly Ports[];

/** 443, and all from 1024 on that are of no such service. */
export const usualPorts: readonly Ports[] = [
  [443, 443],
  ...[...ofServices, [mostPort + 1, 0] as const].map(([before], at): Ports => {
    const last = ofServices[at - 1];
    return [last === undefined ? firstFree : last[1] + 1, before - 1];
  }),
];

export const everyPort: readonly Ports[] = [[1, mostPort]];

/** `443` or `8000-8999`; null where it is neither. */
export function portsOf(text: string): Ports | null {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const from = Number(first);
  const to = Number(last);
  return from >= 1 && from <= to && to <= mostPort ? [from, to] : null;
}
