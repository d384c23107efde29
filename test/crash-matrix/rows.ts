// All rows of the matrix.

import { identityRequests } from './identity-requests.ts';
import { keeperRows } from './keeper-rows.ts';
import { marketRequests } from './market-requests.ts';
import type { Row } from './matrix.ts';
import { messageRows } from './message-rows.ts';
import { passes } from './passes.ts';
import { presenceRows } from './presence-rows.ts';
import { scheduledRows } from './scheduled-rows.ts';
import { startRows } from './start-rows.ts';
import { swapRequests } from './swap-requests.ts';

export const rows: readonly Row[] = [
  ...identityRequests,
  ...marketRequests,
  ...swapRequests,
  ...keeperRows,
  ...scheduledRows,
  ...presenceRows,
  ...startRows,
  ...messageRows,
  ...passes,
];
