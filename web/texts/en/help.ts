// Texts of help. A part is a heading and its paragraphs, in the order of `parts` of help.tsx.

export const help = {
  'help.title': 'Help',
  'help.contents': 'On this page',
  'help.swap': 'What a swap is',
  'help.swap.1':
    'Two people exchange coins on two chains. Each locks its coins in an escrow on its own chain. Nobody holds them in between: not the market, not the other side.',
  'help.swap.2':
    'Both escrows open with the same secret. Whoever knows it can collect the coins of one escrow. Collecting shows it to the other side, who then collects from the other escrow.',
  'help.swap.3':
    'Each escrow also has a time from which its coins go back to who locked them. So a swap ends in one of two ways: both are paid, or both have their own coins again.',
  'help.order': 'How it goes',
  'help.order.1':
    'You say what you give and what you want, and ask for quotes. Makers answer with prices. You accept one, or name another; nothing is committed before both sides have accepted.',
  'help.order.2':
    'An acceptance commits. The side that holds the secret locks its coins first. The other side locks only after it has checked that escrow on its chain; this app does that for you.',
  'help.order.3':
    'When both are locked, the coins are collected, one side after the other. The screen of the swap always names the one next thing, until when, and what happens if it is not done.',
  'help.time': 'How long it takes',
  'help.time.1':
    'Usually as long as the confirmations of both chains: minutes between fast chains, about an hour or two with Bitcoin. The swap box tells the usual time and the worst case before you ask.',
  'help.time.2':
    'In the worst case the other side stops after you have locked your coins. Then they wait until the time of their escrow, some hours to about two days, and come back less the fees.',
  'help.lose': 'What can be lost',
  'help.lose.1':
    'Coins can be lost when the secret is public and you do not collect what is yours before the time of its escrow. This app collects while it is open: on Bitcoin by itself, elsewhere with your wallet. It warns you before.',
  'help.lose.2':
    'Coins can be lost with the keys. On Bitcoin the escrow belongs to a key of this app. It comes from your twelve words: without the device and without the words nobody can collect or take back.',
  'help.lose.3':
    'Fees are spent even if a swap comes to nothing: one to lock the coins, one to take them back. Coins sent to a wrong address or on a wrong network are out of anybody’s reach.',
  'help.lose.4':
    'The price can move while coins are locked. A swap is at the price that both accepted, whatever the market does meanwhile.',
  'help.checks': 'Why you need not trust this market',
  'help.checks.1':
    'This app computes every escrow, every deadline and every transaction itself, from what you accepted, and compares. What differs is not signed, and the screen says which number differs.',
  'help.checks.2':
    'It reads the chains through nodes that you can replace by your own in the settings. A market that lies can refuse to serve you; it cannot take your coins.',
  'help.away': 'If you close this page',
  'help.away.1':
    'Nothing is lost by it at once. Open the app again, on any screen, before the time that the swap’s screen names, and it goes on from what the chains show.',
  'help.away.2':
    'If you come too late to lock your coins, nothing happens and nothing is spent. If you come too late to collect after the secret was shown, the coins can go back to the other side.',
  'help.silent': 'If the other side does nothing',
  'help.silent.1':
    'Before you have locked anything: wait, or leave. The agreement ends by itself, and your coins were never touched.',
  'help.silent.2':
    'After you have locked your coins: wait for the time of your escrow. From then on the refund is yours alone; this app sends it, and the screen counts down to it.',
  'help.bitcoin': 'If you paid the wrong amount of Bitcoin',
  'help.bitcoin.1':
    'Too little does not count: the escrow waits for one payment of at least the whole amount. What you paid comes back by a refund, from the time of the escrow on, less the fee.',
  'help.bitcoin.2':
    'Too much, in one payment, counts, and the rest goes to the other side with it. One that comes too late is refunded. So is a second one, unless you collect: the secret would let the other side take it, and the app asks you before. The screen of the swap names every payment.',
  'help.bitcoin.3':
    'Exchanges often take their fee out of what you send. Send so much that the whole amount arrives in one payment.',
  'help.device': 'If this device is lost',
  'help.device.1':
    'Type your twelve words on another device. With the market they bring back every open swap. Without the market you also need the rescue file, which the app offers after each agreement.',
  'help.device.2':
    'The words are for your swaps in this app only. Coins in your wallets are kept by those wallets, and their own words.',
  'help.market': 'If this market does not answer, or halts a chain',
  'help.market.1':
    'A halt means that nothing new is agreed on a chain. Swaps that were agreed go on in every part.',
  'help.market.2':
    'If the market is gone, the app still opens on a device that used it before. It reads the chains itself, and can collect and take back without the market.',
  'help.words': 'Words',
  'help.words.request': 'Order',
  'help.words.request.is':
    'somebody’s wish to give one coin for another; the prices come from makers',
  'help.words.quote': 'Quote',
  'help.words.quote.is': 'a maker’s price for an order; it commits nobody',
  'help.words.escrow': 'Escrow',
  'help.words.escrow.is':
    'where coins are locked on a chain: to be collected with the secret, or to go back after a time',
  'help.words.claim': 'Collect',
  'help.words.claim.is': 'to take the coins of an escrow with the secret; elsewhere called a claim',
  'help.words.refund': 'Refund',
  'help.words.refund.is': 'to take one’s own coins back, from the time of the escrow on',
  'help.words.confirmations': 'Confirmations',
  'help.words.confirmations.is':
    'blocks on top of a payment; a swap goes on when there are enough that it will stay',
  'help.build': 'How to compare this app with its sources',
  'help.build.1':
    'The hash at the foot of each page names this build. Whoever has the sources builds them with “npm ci && npm run web”, and must get the same hash.',
  'help.build.2':
    'The files as your browser got them are listed at /app/build.json. Their hash is that of the list which sha256sum prints of them, sorted by path.',
} as const;
