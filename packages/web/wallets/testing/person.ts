// Tests only: the common part of wallets in a page: a person behind them, and a key.

import { hexToBytes } from '@noble/hashes/utils.js';
import type { Told } from './settings.ts';

const drawing = '<rect width="32" height="32" rx="8" fill="%23568"/>';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32">${drawing}</svg>`;
export const icon = `data:image/svg+xml,${svg}`;

/** The person's act, once for each prompt. */
export async function person(told: Told, method: string, refusal: unknown): Promise<void> {
  told.prompts.push(method);
  if (told.does === 'hangs') await new Promise(() => {});
  if (told.does === 'declines') throw refusal;
}

export const seedOf = (privateKey: string): Uint8Array => hexToBytes(privateKey.replace(/^0x/, ''));
