// Texts of what a person is warned of while a swap goes on.

export const warnings = {
  'settlement.warn.other_tab': 'Another tab settles your swaps',
  'settlement.warn.other_tab.why':
    'This one only shows them. Leave the other tab open, or let this one take over.',
  'settlement.warn.other_tab.go': 'Take over here',
  'settlement.warn.other_tab.busy': 'The other tab waits for a wallet. Answer it there.',
  'settlement.warn.other_tab.silent':
    'The other tab does not answer. Close it, and this one goes on.',
  'settlement.warn.node': 'A node does not answer',
  'settlement.warn.node.why':
    'What this page shows may be old. Nothing is locked or collected on what it cannot read.',
  'settlement.warn.node.go': 'Choose other nodes',
  'settlement.warn.chain_stands': 'A chain stands still',
  'settlement.warn.chain_stands.why': 'Its newest block is too old, or your clock is wrong. {held}',
  'settlement.warn.nodes_disagree': 'Your nodes do not agree',
  'settlement.warn.nodes_disagree.why': 'One of them is wrong. {held}',
  'settlement.warn.answer_refused': 'A node denies what was final',
  'settlement.warn.answer_refused.why': 'It proves nothing, and is not believed. {held}',
  'settlement.warn.held.lock': 'Nothing is locked until that is over. You lose nothing by waiting.',
  'settlement.warn.held.reveal':
    'Collecting waits until that is over, because it shows your secret. What is due to be taken back is taken back all the same.',
  'settlement.warn.held.end':
    'Only the end of the swap waits for that. Collecting with a secret that is out, and taking back what is due, go on.',
  'settlement.warn.node_ahead': 'A node tells a time that is yet to come',
  'settlement.warn.node_ahead.why':
    'Its time does not count, or your clock is slow. Nothing is locked or ended by its word alone.',
  'settlement.warn.node_silent': 'A node does not answer',
  'settlement.warn.node_silent.why':
    'This page asks it again. What has not begun may wait up to ten minutes for it. Then the other nodes are enough.',
  'settlement.warn.node_behind': 'A node is behind',
  'settlement.warn.node_behind.why': 'This page goes by the others, and asks it again.',
  'settlement.warn.market': 'The market does not answer',
  'settlement.warn.market.why':
    'What is locked is collected or taken back without it. Nothing new is locked.',
  'settlement.warn.market_lied': 'The market says something else than you agreed',
  'settlement.warn.market_lied.why':
    'This page goes by your own terms and chains, and does not believe it.',
  'settlement.warn.clock': 'Your clock is off by {off}',
  'settlement.warn.clock.why': 'Deadlines are reckoned by it. Set it right before you pay.',
  'settlement.warn.store': 'This browser cannot keep the swap safely',
  'settlement.warn.store.why':
    'Leave this page open until the swap has ended, and save the rescue file.',
  'settlement.warn.private': 'This is a private window',
  'settlement.warn.private.why':
    'All it keeps is gone when you close it. Save the rescue file and have your phrase at hand.',
  'settlement.warn.unpromised': 'This browser may delete what it keeps',
  'settlement.warn.unpromised.why':
    'It promises nothing when the disk is full. Save the rescue file.',
  'settlement.warn.settle': 'The swap waits',
  'settlement.warn.settle.why': 'Nothing is signed meanwhile.',
  'settlement.warn.terms': 'The terms do not fit what you agreed',
  'settlement.warn.terms.why': 'Nothing of yours is paid. Do not pay by hand either.',
  'settlement.warn.phrase': 'Your rescue phrase is not checked',
  'settlement.warn.phrase.why': 'If this browser loses its data, nobody can bring the swap back.',
  'settlement.warn.phrase.go': 'Write it down and check it',
  'settlement.warn.rescue': 'The newest rescue file is not saved',
  'settlement.warn.rescue.why':
    'With the phrase it brings this swap back even if the market is gone.',
  'settlement.warn.near': 'The time to pay ends soon',
  'settlement.warn.near.why':
    'It ends at {fundBy}. If you are not sure to make it, do not pay: nothing is lost.',
  'settlement.warn.wrong_network': 'Your wallet is on another network',
  'settlement.warn.wrong_network.why': 'Switch it to {chain}. Nothing is signed before.',
} as const;
