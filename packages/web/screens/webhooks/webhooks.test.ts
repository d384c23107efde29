// The screen offers the events that the market sends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookTopics } from '@parley/core/events.ts';
import { webhookEvents as sent } from '@parley/market/edge/schemas/webhook.ts';

test('the events that can be chosen are those that are sent', () => {
  const { ping: _, ...events } = sent;
  assert.deepEqual([...webhookTopics], Object.keys(events));
});
