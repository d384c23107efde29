// An entry of a list in the settings: what anybody may have written, before it is checked.

import { jsonOf } from '../../core/unchecked.ts';

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shown(value: unknown): string {
  const text = jsonOf(value) ?? 'missing';
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
