// The ids of a market are those of its seed: not of what the same process simulated before, which
// the real sequence goes on from. The worker puts this in the place of apps/market/ports/ids.ts.

import { idSequence, isUuid, type MakeId, stocked, uuidOf } from '@parley/market/ports/ids.ts';

let own = idSequence();

export const uuidv7: MakeId = (nowMs, randomBytes) => own(nowMs, randomBytes);

export function beginIds(): void {
  own = idSequence();
}

export { idSequence, isUuid, stocked, uuidOf };
