// Texts of the rescue phrase, and of the page that brings swaps back.

export const phrase = {
  'phrase.title': 'Rescue phrase',
  'phrase.what':
    'Twelve words from which this browser makes the keys of your swaps. If this device is lost, they bring open swaps back on another one.',
  'phrase.who':
    'Whoever has the words can take what is in your Bitcoin escrows. Nobody at this market knows them or can replace them.',
  'phrase.not': 'Coins in your own wallets are not in it: those have phrases of their own.',
  'phrase.make': 'Make a phrase',
  'phrase.make.hint': 'Have paper and a pen at hand. It takes two minutes.',
  'phrase.have': 'I have a phrase',
  'phrase.have.hint': 'Type the words of another device.',
  'phrase.back': 'Back',
  'phrase.write.title': 'Write the twelve words down',
  'phrase.write.how':
    'On paper, in this order, where nobody sees it. No photo, no file, no message.',
  'phrase.show': 'Show the words',
  'phrase.hide': 'Hide the words',
  'phrase.words': 'The twelve words',
  'phrase.hidden': 'hidden',
  'phrase.written': 'I have written them down',
  'phrase.written.first': 'Show the words first, and write them down.',
  'phrase.copy.title': 'Copy the words?',
  'phrase.copy.why':
    'Every program on this device can read what you copy, and some keep it or send it to other devices. Paper cannot be read from afar.',
  'phrase.copy.go': 'Copy all the same',
  'phrase.copy.leave': 'Do not copy',
  'phrase.check.title': 'Type three of them back',
  'phrase.check.how': 'From your paper. So you know that what you wrote is right.',
  'phrase.check.word': 'Word {at}',
  'phrase.check.wrong': 'This is not word {at}. Look at your paper.',
  'phrase.check.go': 'Check',
  'phrase.check.again': 'Back to the words',
  'phrase.checked.title': 'Your phrase is checked',
  'phrase.checked.when':
    'You typed it back at {at}. This browser keeps it and does not show it again.',
  'phrase.checked.lost':
    'If you have lost the paper: let your open swaps end, forget this phrase, and make a new one.',
  'phrase.checked.test': 'Test my paper',
  'phrase.checked.right': 'Right: these are words of your phrase.',
  'phrase.checked.swaps': 'To my swaps',
  'phrase.checked.on': 'Go on',
  'phrase.forget': 'Forget it on this device',
  'phrase.forget.title': 'Forget the phrase on this device?',
  'phrase.forget.why':
    'Without the words on your paper nothing can be brought back. Open swaps stop here: go on with them on another device.',
  'phrase.forget.go': 'Forget it',
  'phrase.forget.leave': 'Keep it',
  'phrase.forget.even': 'I have saved the rescue file, and have the words on paper',
  'phrase.restore.title': 'Type your phrase',
  'phrase.restore.label': 'The twelve words, with spaces between them',
  'phrase.restore.hint': 'They stay on this device, and are sent nowhere.',
  'phrase.restore.go': 'Take this phrase',
  'phrase.restore.count': 'These are {count} words. A phrase has 12.',
  'phrase.restore.word': 'Word {at}, “{word}”, is in no phrase. Is it “{nearest}”?',
  'phrase.restore.checksum':
    'All words exist, and they do not fit together: one is another, or two have changed places.',
  'phrase.restored': 'This browser has your phrase now.',

  'rescue.title': 'Bring swaps back',
  'rescue.intro':
    'For a device that is lost, a browser that was emptied, or a market that is gone. You need your twelve words and, if the market is gone, the rescue file.',
  'rescue.memory':
    'This is a saved copy: it keeps nothing. Leave the page open until every swap has ended. After it was closed, begin again with file and phrase.',
  'rescue.copy.title': 'Rescue page',
  'rescue.phrase': '1. Your phrase',
  'rescue.phrase.there': 'Your phrase is here. Swaps of this phrase are brought back.',
  'rescue.from': '2. Your swaps',
  'rescue.file': 'From a rescue file',
  'rescue.file.choose': 'Choose the rescue file, or drop it here',
  'rescue.file.read': 'The file was written {at} and has {count}.',
  'rescue.file.one': '1 open swap',
  'rescue.file.many': '{count} open swaps',
  'rescue.file.none': 'It has no open swap.',
  'rescue.file.large':
    'This file has {size} bytes, and a rescue file at most {most}: choose another one.',
  'rescue.market': 'From the market',
  'rescue.market.why':
    'If the market answers and you are signed in: it lists your swaps, and you say which are yours.',
  'rescue.market.go': 'Ask the market',
  'rescue.market.ask.title': 'Is this what you agreed?',
  'rescue.market.ask':
    'You give {gives} and get {gets}, agreed {at}. The market says so. If you do not remember it, say no.',
  'rescue.market.ask.paid':
    'What you get is paid on {chain} to the address below. Say yes only if it is your own wallet.',
  'rescue.market.ask.contract':
    'This app does not know the token {contract}. Say yes only if it is the one that you agreed to.',
  'rescue.market.yes': 'Yes, bring it back',
  'rescue.market.no': 'No, leave it out',
  'rescue.market.cut': 'The list was too long to be read to its end: there may be older swaps.',
  'rescue.nodes': '3. Nodes',
  'rescue.nodes.why':
    'Each chain is read, and what collects or takes back is sent, through a node. Name one that you run or trust. It learns which escrows are yours, and no key.',
  'rescue.node.label': 'Node of {chain}',
  'rescue.node.hint.bitcoin':
    'An Esplora address, such as https://…/api. A Bitcoin Core node answers no page: put a proxy before it (docs/rescue.md), and write http://user:password@ before its address.',
  'rescue.node.hint.other': 'The address of a node, such as https://… or http://127.0.0.1:8545',
  'rescue.node.has': '{chain}: {url}',
  'rescue.node.unknown':
    'This app knows no {chain} without its market: open the saved rescue page, which knows it by the file.',
  'rescue.node.check': 'Check and use',
  'rescue.node.height': 'It answers. Its newest block is {height}.',
  'rescue.node.wrong': 'It is not used: {sentence}',
  'rescue.go.title': '4. Bring them back',
  'rescue.go.what':
    'The swaps are checked against your phrase. Then each goes on by itself while the page is open: it collects what pays you and takes back what is due. Nothing new is locked.',
  'rescue.go': 'Bring back {count}',
  'rescue.go.nodes': 'Name nodes first, of both chains of a swap.',
  'rescue.go.some':
    'A chain has no node yet: its swaps are left out. Name one later, and bring them back then.',
  'rescue.go.phrase': 'Type your phrase first.',
  'rescue.go.searching': 'Looking for the secrets of your swaps. This can take a minute.',
  'rescue.result.title': 'What was found',
  'rescue.result.restored': 'Brought back. It goes on by itself.',
  'rescue.result.nameless': 'Brought back. It waits for a Bitcoin address of yours, above.',
  'rescue.result.wallet':
    'Brought back. It goes on by itself, but for what your own wallet has to sign: look at it.',
  'rescue.payout.why':
    'Swaps that wait for it: {count}. What you collect or take back on Bitcoin is paid there, and nothing goes on before. Take one of a wallet that you have.',
  'rescue.result.kept': 'It is here already.',
  'rescue.result.over': 'Over: {why}',
  'rescue.result.not_begun': 'Not begun: {why}',
  'rescue.result.declined': 'Left out, as you said.',
  'rescue.result.refused': 'Not brought back: {why}',
  'rescue.result.missing':
    'Its secret was not found: it can be taken back, and collected only once the secret is public.',
  'rescue.result.look': 'Look at it',
  'rescue.texts': 'As text, to be sent elsewhere',
  'rescue.texts.why':
    'If no node answers you here: take the transaction along as text. It pays only the address that was agreed or that you named.',
  'rescue.texts.refund': 'Take back as text',
  'rescue.texts.claim': 'Collect as text',
  'rescue.texts.signed':
    'A signed Bitcoin transaction. Any node or explorer with “broadcast” takes it.',
  'rescue.texts.call':
    'A call of a contract on chain id {chainId}. Any wallet may send it, and pays the network fee.',
  'rescue.texts.from': 'It is taken from {at} on, by the clock of the chain.',
  'rescue.texts.what': 'transaction',
  'rescue.save.title': 'Before you need it',
  'rescue.save.why':
    'Save this page as one file, and keep it with the rescue file. It works with the market gone, and reaches nodes in your own network.',
  'rescue.save': 'Save the rescue page',
  'rescue.fault.foreign_file': 'This is another program’s file: choose the right one.',
  'rescue.fault.newer_file': 'A newer version of this app wrote it: use that one.',
  'rescue.fault.bad_file': 'It is cut or was altered: take another copy.',
  'rescue.fault.other_phrase':
    'Another phrase wrote it, or somebody altered it: try your other phrases.',
  'rescue.fault.other_network': 'It is of another network than this app.',
  'rescue.fault.too_large': 'It is too large for a rescue file.',
} as const;
