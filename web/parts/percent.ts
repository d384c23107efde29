// Basis points as people read them: `1.25 %`, without a sign; the sentence around says which way.

export function percentOf(bps: number, locale?: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 });
  return format.format(Math.abs(bps) / 10_000);
}
