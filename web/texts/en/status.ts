// Texts of status.

export const status = {
  'status.title': 'Status of the market',
  'status.good': 'The market works: acceptances become swaps at once.',
  'status.waits': 'Acceptances wait. Everything else goes on, and swaps that run are not touched.',
  'status.waits.for': 'The market first reads back what it missed: {what}',
  'status.halted': 'Nothing new is agreed on {chains}. Swaps that were agreed there go on.',
  'status.quiet':
    'No new block is seen on {chains}. The market may not see it; ask a node of your own.',
  'status.halted.assets':
    'Nothing new is agreed with {assets}. Swaps that were agreed with them go on.',
  'status.behind.webhooks': 'Webhooks are {by} behind. What they tell is at once in the API.',
  'status.behind.feed': 'The makers’ feed is {by} behind. The book shows what there is.',
  'status.behind.messages': 'Mails and chat messages are {by} behind.',
  'status.version': 'Version {version}, running since {started}.',
  'status.clock.behind':
    'The clock of this device is {by} behind the market’s. Set it right before you swap: deadlines are by the clock.',
  'status.clock.ahead':
    'The clock of this device is {by} ahead of the market’s. Set it right before you swap: deadlines are by the clock.',
  'status.chains': 'Chains',
  'status.chain': 'Chain',
  'status.state': 'State',
  'status.height': 'Newest block',
  'status.seen': 'Seen',
  'status.delay': 'Delay',
  'status.on_time': 'none',
  'status.late': '{chain} ({by} late)',
  'status.usual': 'Usual time between blocks',
  'status.never': 'not yet',
  'status.unknown': 'unknown',
  'status.is.good': 'works',
  'status.is.quiet': 'quiet',
  'status.is.halted': 'halted since {since}',
  'status.is.unseen': 'not seen yet',
  'status.network.dev':
    'This is a dev network: its coins are worth nothing, and its clock can be moved.',
  'status.network.testnet': 'This is a test network: its coins are worth nothing.',
  'status.more': 'What a halt means, and what you can do without the market: see Help.',
} as const;
