// docs/limits.md is what the source does: whoever changes one of these numbers changes it there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { maxHeaderSize } from 'node:http';
import { test } from 'node:test';
import { mostAncestorsAsked, mostRemembered } from '../chains/bitcoin/esplora-waiting.ts';
import { mostRungs } from '../chains/bitcoin/fee-ladder.ts';
import { pageBlocks as bitcoinPage, stampedBlocks } from '../chains/bitcoin/hashlocks.ts';
import {
  longestRefundHex,
  mostRefundInputs,
  refundStepSeconds,
} from '../chains/bitcoin/signed-refunds.ts';
import { mostInBatch } from '../chains/escrows/batch.ts';
import { forcedTips } from '../chains/evm/gas-fees.ts';
import { evmGasPolicies } from '../chains/evm/gas-policy.ts';
import { pageBlocks as evmPage } from '../chains/evm/hashlocks.ts';
import { othersMs } from '../chains/gas/paid.ts';
import { mostDecimals as mostSolanaDecimals } from '../chains/solana/checks/mint.ts';
import { pageTransactions as solanaPage } from '../chains/solana/hashlocks.ts';
import { unitLimits } from '../chains/solana/plan.ts';
import { mostDecimals } from '../chains/tokens/face.ts';
import { tronGasPolicies } from '../chains/tron/gas-policy.ts';
import { pageBlocks as tronPage } from '../chains/tron/hashlocks.ts';
import * as doctor from '../server/doctor/examine.ts';
import { swapBounds } from '../server/doctor/swaps.ts';
import { bodyLimitBytes } from '../server/edge/body.ts';
import {
  partyLimit,
  refusedRelays,
  scheduleLimit,
  strangerLimit,
  swapLimit,
  windowSeconds,
} from '../server/edge/budgets.ts';
import { mostConnections, mostOfSite, reservedDescriptors } from '../server/edge/connections.ts';
import { mostSockets, pingEveryMs } from '../server/edge/feed/feed.ts';
import { mostFrameBytes, mostUnreadBytes, paceMs } from '../server/edge/feed/peer.ts';
import { mostInSnapshot } from '../server/edge/feed/snapshot.ts';
import { mostKeptBytes } from '../server/edge/idempotency/replies.ts';
import * as keeper from '../server/keeper/bounds.ts';
import * as listing from '../server/listing/bounds.ts';
import * as launchpads from '../server/listing/launchpads/bounds.ts';
import * as bounds from '../server/market/bounds.ts';
import { mostGapDays, silenceSeconds } from '../server/restore/gap.ts';
import { beatMs } from '../server/restore/presence.ts';
import { afterEndSeconds, pageMs, shortSilenceSeconds } from '../server/restore/reading.ts';
import { readSettings } from '../server/settings/config.ts';
import { scheduledLimits } from '../server/settle/scheduled-refunds.ts';
import { retryAfterSeconds } from '../server/webhooks/deliver.ts';
import { handOutBatch, mostWaiting } from '../server/webhooks/hand-out.ts';
import { hostLimits, mostFirst } from '../server/webhooks/hosts.ts';
import { mostPings, mostPingsEach } from '../server/webhooks/ping.ts';
import { createPlaces, heldBackMs, places, placesEach, slowMs } from '../server/webhooks/places.ts';
import { longestUrl, mostWebhooks } from '../server/webhooks/register.ts';
import { deliveryMs } from '../server/webhooks/send.ts';
import { declaredByChains } from './limits-docs.chains.ts';
import { declared as declaredByOthers } from './limits-docs.declared.ts';
import { declaredByMessages } from './limits-docs.messages.ts';

const declared = [...declaredByOthers, ...declaredByChains, ...declaredByMessages];

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const rows = textOf('docs/limits.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

/** Digits in threes, as the page writes them. */
const written = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
const { ofAccount } = createPlaces(() => 0).offer();
// With chains of its own: on those for development some limits are wider.
const chain = { family: 'bitcoin', chain: 'bitcoin', network: 'regtest', rpcUrl: 'http://a:b@h:1' };
const settings = readSettings({ PARLEY_CHAINS: JSON.stringify([chain]) });
const { connectionsPerNetwork } = settings;
const dayMs = 86_400_000;
const attempts = retryAfterSeconds.length + 1;
const retriesSeconds = retryAfterSeconds.reduce((sum, each) => sum + each, 0);

const said: Record<string, string> = {
  "a part of `npm run doctor`, one chain's swaps in it, all of it": [
    `${doctor.partMs / 1_000} s (\`--part\`), three quarters of \`--time\`,`,
    `${written(doctor.wholeMs / 1_000)} s (\`--time\`)`,
  ].join(' '),
  'swaps that `npm run doctor` has in memory, reads at once, keeps for a second look': [
    `${swapBounds.page}, ${swapBounds.parallel}, ${written(swapBounds.suspects)}`,
  ].join(),
  'pages of swaps in a row that `npm run doctor` does not get': `${swapBounds.lostPages}`,
  [[
    "gas of one transaction of an operator's gas key on an EVM chain; energy on TRON;",
    'compute units on Solana, of a token and of SOL',
  ].join(' ')]: [
    `${written(Number(evmGasPolicies.ethereum?.mostGas))},`,
    `on Arbitrum ${written(Number(evmGasPolicies.arbitrum?.mostGas))};`,
    `${written(Number(tronGasPolicies.tron?.mostEnergy))};`,
    `${written(unitLimits.token)}, ${written(unitLimits.sol)}`,
  ].join(' '),
  "life of a transaction of an operator's gas key": [
    `on TRON ${tronGasPolicies.tron?.lifeSeconds} s, on Solana 150 blocks`,
  ].join(),
  'signed refunds kept of an escrow; inputs and characters of one': [
    `${mostRungs}; ${mostRefundInputs}, ${written(longestRefundHex)}`,
  ].join(),
  'checks of signed refunds of an account; under way in a process': [
    `${scheduleLimit} in ${windowSeconds} s; 1`,
  ].join(),
  'ladders of signed refunds looked at in a pass of a chain': [
    `${scheduledLimits.perPass}, ${scheduledLimits.leaseSeconds} s in the hands of one process`,
  ].join(),
  'wait of a sent refund before the next higher': `${refundStepSeconds / 60} minutes and a block`,
  'silence of all servers that is no missing time ([backup.md](backup.md))': [
    `${silenceSeconds} s, a heartbeat every ${beatMs / 1_000} s`,
  ].join(),
  'missing time that is read back by itself': `${mostGapDays} days`,
  'block by which a node shows that it has all of the missing time: EVM, TRON, Solana; Bitcoin': [
    `stamped ${afterEndSeconds.evm} s after its end;`,
    `${['none', 'one', 'two'][stampedBlocks]} at its end,`,
    `none after a stop of less than ${shortSilenceSeconds} s`,
  ].join(' '),
  [[
    'transactions below a stuck funding that an Esplora server is asked for;',
    'those whose first sight is remembered',
  ].join(' ')]: `${mostAncestorsAsked}; ${written(mostRemembered)}`,
  'a page of reading back: EVM, TRON, Bitcoin, Solana': [
    `${written(evmPage)}, ${tronPage} and ${bitcoinPage} blocks,`,
    `${solanaPage} transactions; ${pageMs / 1_000} s`,
  ].join(' '),
  'tokens that an account asks to have listed': [
    `${settings.listingLimit} an hour (\`PARLEY_LISTING_LIMIT\`); ${listing.mostPending} that wait`,
  ].join(),
  'looks at tokens under way in a process': [
    `${listing.mostLooks.asked} for requests, ${listing.mostLooks.background} in the background,`,
    `${listing.lookMs / 1_000} s each`,
  ].join(' '),
  'wait of a request that closes or reopens a token for others that do': `${listing.mostLockMs} ms`,
  'tokens taken in hand by a pass': [
    `${listing.batch}, of launchpads ${listing.batchOfLaunchpads} while others are due`,
  ].join(),
  'a token that waits to be listed': [
    `looked at every ${listing.candidateEveryMs === 3_600_000 ? 'hour' : '?'}`,
    `for ${listing.candidateForMs / dayMs} days`,
  ].join(' '),
  'a token that was refused or expired': [
    `remembered for ${(listing.candidateForMs + listing.forgottenAfterMs) / dayMs} days`,
    'from when it was asked for',
  ].join(' '),
  'launchpads, and launches of one that are taken in an hour': [
    `${launchpads.mostLaunchpads}; ${launchpads.defaultMostAnHour}`,
    `(\`mostAnHour\`, at most ${written(launchpads.mostMostAnHour)})`,
  ].join(' '),
  'candidates of launchpads that wait': [
    `${written(listing.mostLaunched)}, each launchpad an equal share:`,
    'a look an hour at each, 3.6 s, in half of the lanes',
  ].join(' '),
  'symbol, decimals of a listed token': [
    `${listing.mostSymbolLength} characters; ${mostDecimals}, on Solana ${mostSolanaDecimals}`,
  ].join(),
  'the keeper: jobs of a chain in one pass, at once': [
    `${keeper.jobsAPass}, ${keeper.lanes}; ${keeper.jobMs / 1_000} s each`,
  ].join(),
  'versions of one nonce of a gas key, where blocks take no more than it offers': [
    `${keeper.mostVersions}, its tip as high as a first offer's may be`,
  ].join(),
  'the tip of a replacement that follows the base fee': [
    `${forcedTips} times the most of a first offer`,
  ].join(),
  'versions of a nonce that are asked about at once; those that others have taken the place of': [
    `${keeper.fatesAtOnce}; ${keeper.restMs / 1_000} s in all`,
  ].join(),
  'wait for the other nodes once one has said what a transaction of a gas key has cost': [
    `${othersMs / 1_000} s`,
  ].join(),
  'what one node alone may lower a charge to': [
    `${keeper.leastPaidPart === 8n ? 'an eighth' : '?'} of the most that it could cost`,
  ].join(),
  'what a gas key has under way on a chain': [
    `${keeper.mostUnderWay} of the keeper's own,`,
    `${keeper.refundShare === 2n ? 'half' : '?'} of them refunds at most;`,
    `${keeper.mostRelays} relays;`,
    `${keeper.mostFundings} fundings`,
  ].join(' '),
  "what refunds may use up of the keeper's cap a day": [
    `${keeper.refundShare === 2n ? 'half' : '?'}, the rest is for claims`,
  ].join(),
  'of that and of its places, what may be used up when the keeper brings back what a claim left (Solana); in one pass':
    [`${keeper.closeShare === 2n ? 'half' : '?'}; ${keeper.closesAPass}`].join(),
  'requests for relays that wait for a turn on a chain, of all servers': [
    `${keeper.mostWaiting}, of one account ${keeper.mostWaitingOf};`,
    'the place of a process that died counts',
    `for ${keeper.turnAwaitedMs / 1_000} s`,
  ].join(' '),
  'nonces in mempools that the database does not know, while its own wait behind them': [
    `${keeper.unknownSeconds} s;`,
    `${written(keeper.vouchedSeconds)} s where two nodes say so`,
  ].join(' '),
  'relays of an account on a chain in a UTC day': [
    `${keeper.relaysPerAccount} (\`relaysPerAccount\`)`,
  ].join(),
  'what relays of a UTC day may take on a chain': [
    `\`relayCap\`, one account ${keeper.accountShare === 4n ? 'a quarter' : '?'};`,
    `default on EVM chains ${written(Number(keeper.relayGas))} gas`,
    `(${keeper.dearRelays} of the dearest, if that is more) at reserve fees,`,
    `TRON ${written(Number(keeper.relayCap.tron) / 1e6)} TRX,`,
    `Solana ${Number(keeper.relayCap.solana) / 1e9} SOL`,
  ].join(' '),
  'fundings by signature of an account on a chain in a UTC day; those that failed': [
    `${keeper.fundsPerAccount} (\`fundsPerAccount\`);`,
    `${keeper.mostFailedFundings}`,
  ].join(' '),
  'what fundings by signature of a UTC day may take on a chain': [
    `\`fundCap\`, one account ${keeper.accountShare === 4n ? 'a quarter' : '?'};`,
    `default ${keeper.dearFundings} of the dearest at reserve fees`,
  ].join(' '),
  'time that a funding by signature needs before its fund-by': `${keeper.fundingLeadSeconds} s`,
  'escrows, and receivers or tokens, of one transaction of the keeper': [
    `${mostInBatch}, ${keeper.mostPayments}`,
  ].join(),
  'token accounts that relays of a UTC day make on Solana, claims counted': [
    `${keeper.relayTokenAccounts} (\`relayTokenAccounts\`), for one account a quarter`,
  ].join(),
  'relays of an account that are refused or not answered yet': [
    `${refusedRelays} in ${windowSeconds} s`,
  ].join(),
  'looks for what a server without the key has taken up': `every ${keeper.missedEverySeconds} s`,
  "what one account may use up of the keeper's cap a day": [
    keeper.accountShare === 4n ? 'a quarter' : `one in ${keeper.accountShare}`,
  ].join(),
  'a turn to sign with a gas key': [
    `${keeper.turnMs / 1_000} s,`,
    `${keeper.signMs / 1_000} s for all that is read and signed in it;`,
    `a request waits ${keeper.turnPatienceMs / 1_000} s for it,`,
    `a job ${keeper.jobPatienceMs / 1_000} s`,
  ].join(' '),
  'a job of the keeper that was mined without effect': `${keeper.mostFailed} times`,
  'headers of a request': `${written(maxHeaderSize)} bytes together`,
  'request body': `${written(bodyLimitBytes)} bytes`,
  'requests of a key, an account, a client without a key (IPv4 address, IPv6 /64)': [
    `${settings.rateLimit} in ${windowSeconds} s`,
    '(`PARLEY_RATE_LIMIT`)',
  ].join(' '),
  [[
    `requests of a client network (IPv4 address, IPv6 /${settings.clientPrefixes.ipv6}),`,
    'whichever keys they have, as far as their own budgets allow them',
  ].join(' ')]: [
    `${written(settings.rateLimitPerNetwork)} in ${windowSeconds} s`,
    '(`PARLEY_RATE_LIMIT_PER_NETWORK`)',
  ].join(' '),
  [[
    "requests of a party beyond its budget and its network's, on each open swap and as",
    'broadcasts, and of all of these; looks for such swaps that found none',
  ].join(' ')]: `${swapLimit}, ${partyLimit}; ${strangerLimit} in ${windowSeconds} s`,
  'connections of a process, and descriptors kept back': [
    `${written(mostConnections)} (\`PARLEY_CONNECTIONS\`),`,
    written(reservedDescriptors),
  ].join(' '),
  'connections of a client (IPv4 address, IPv6 /64)': [
    connectionsPerNetwork,
    '(`PARLEY_CONNECTIONS_PER_NETWORK`)',
  ].join(' '),
  'connections of all clients in an IPv6 /48': [
    `${written(mostOfSite({ connections: null, connectionsPerNetwork }))}:`,
    "a quarter of the process's, at least twice a client's",
  ].join(' '),
  'live RFQs of an account': written(bounds.mostLiveRfqs),
  'makers on an RFQ': written(bounds.mostThreads),
  'sockets of the maker feed: of a client (IPv4 address, IPv6 /64), of a process': [
    `${settings.feedSocketsPerIp} (\`PARLEY_FEED_SOCKETS_PER_IP\`;`,
    `opened: ten times as many a minute), ${written(mostSockets)}`,
  ].join(' '),
  'a frame from a maker': `${written(mostFrameBytes)} bytes`,
  'what a maker has not read': [
    `${mostUnreadBytes / 2 ** 20} MiB;`,
    `${paceMs / 1_000} s without reading while it catches up`,
  ].join(' '),
  'a peer that answers no ping': `pinged every ${pingEveryMs / 1_000} s`,
  snapshot: [
    `${mostInSnapshot} RFQs,`,
    `and ${mostInSnapshot} private ones for the account with \`resume\``,
  ].join(' '),
  'log of the feed': [
    `${bounds.feedLogDays === 1 ? 'a day' : bounds.feedLogDays} and`,
    `${written(bounds.feedLogEntries)} entries; ${written(bounds.mostReplayed)} are replayed`,
  ].join(' '),
  'stored refusals of an account a day; bytes of a stored reply': [
    written(bounds.mostKeptRefusals),
    written(bounds.mostReplyBytes),
  ].join('; '),
  'stored replies of success of an account a day (UTC), for each request of `PARLEY_RATE_LIMIT`': [
    `${written(bounds.keptBytesOfRequest)} bytes,`,
    `${Math.floor(mostKeptBytes(settings) / 1_000_000)} MB in all; each is counted packed,`,
    `and ${written(bounds.replyRowBytes)} bytes for its row`,
  ].join(' '),
  'what ended with nothing at stake (RFQs without a swap, swaps that nobody funded)': `${bounds.endedDays} days`,
  'recorded events, deliveries and their attempts': `${bounds.outboxDays} days`,
  'webhooks of an account': written(mostWebhooks),
  [[
    'deliveries begun to one host in a minute:',
    'in all, to one that never answered 2xx, and of one account in any case to one that did',
  ].join(' ')]: [hostLimits.known, hostLimits.unknown, hostLimits.unknown].map(written).join(', '),
  [[
    "accounts' first deliveries in an hour",
    'that would wait for a host that never answered 2xx',
  ].join(' ')]: `${mostFirst} a minute pass`,
  'url of a webhook, as it is stored': `${written(longestUrl)} characters`,
  'a delivery': [
    `${deliveryMs / 1_000} s, ${attempts} attempts`,
    `in ${Math.floor(retriesSeconds / 60)} m ${retriesSeconds % 60} s`,
  ].join(' '),
  'deliveries under way in a process, in all, of one account and to one webhook': [
    `${places.quick}, ${ofAccount.quick} and ${placesEach.quick};`,
    `of webhooks that are new or took longer than ${slowMs / 1_000} s ${places.slow},`,
    `an eighth of what is free (${ofAccount.slow} at first) and ${placesEach.slow}`,
  ].join(' '),
  'a quick delivery that hangs': [
    `leaves its place after ${slowMs / 1_000} s, 400 with those that have one;`,
    `its account is slow for ${heldBackMs / 60_000} minutes (10 000 accounts are remembered)`,
  ].join(' '),
  'events handed out at a time': written(handOutBatch),
  'deliveries that wait for one webhook': written(mostWaiting),
  'pings under way in a process, in all and of one account': `${mostPings}, ${mostPingsEach}; 1 while ${mostPings / 2} are under way`,
};

for (const [what, limit] of Object.entries(said)) {
  test(`docs/limits.md: ${what}`, () => {
    const found = rows.filter(([first]) => first === what);
    assert.deepEqual(
      found.map(([, second]) => second),
      [limit],
    );
  });
}

for (const { what, limit, by } of declared) {
  test(`docs/limits.md: ${what}`, () => {
    const found = rows.filter(([first]) => first === what);
    assert.deepEqual(
      found.map(([, second]) => second),
      [limit],
    );
    for (const [file, declarations] of Object.entries(by)) {
      const text = textOf(file);
      const wrong = declarations.filter((each) => timesIn(text, each) !== 1);
      assert.deepEqual(wrong, [], `${file} says otherwise, or more than once`);
    }
  });
}

/** Whole words: what ends alike declares something else. */
function timesIn(text: string, declaration: string): number {
  const [, ...after] = text.split(declaration);
  const before = text.split(declaration).slice(0, after.length);
  return before.filter((each) => !/\w$/.test(each)).length;
}

/** A rule and no number. */
const rules = ['what freeing a nonce of a gas key may cost', 'what a relay may be made to pay'];

test('every row of docs/limits.md is compared with the source, and once', () => {
  const compared = [...Object.keys(said), ...declared.map(({ what }) => what), ...rules];
  const limits = rows.map(([what]) => what).filter((what) => what !== 'what');
  assert.deepEqual(compared.toSorted(), limits.toSorted());
});
