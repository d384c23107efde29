// Test vectors of BIP-322, each with its source. Keys are WIF, given where the
// signature is the RFC 6979 one (the others were ground for a low R).
//
// [1] bitcoin/bips, bip-0322/basic-test-vectors.json (CC0)
// [2] bitcoin/bips, bip-0322/generated-test-vectors.json (CC0)
// [3] bitcoin/bips, bip-0322.mediawiki, section "Test vectors" (draft form, bare base64)
// [4] Bitcoin Core pull request 24058, src/test/util_tests.cpp (P2TR with SIGHASH_ALL)
// [5] published table of an independent Go verifier, "p2sh-p2wpkh hello world (key1)" (the BIP has
//     only a full signature of such an address: its to_spend is checked from [2])

export const transactionVectors = [
  {
    source: 1,
    message: '',
    address: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
    messageHash: 'c90c269c4f8fcbe6880f72a721ddfbf1914268a794cbb21cfafee13770ae19f1',
    toSpend: 'c5680aa69bb8d860bf82d4e9cd3504b55dde018de765a91bb566283c545a99a7',
    toSign: '1e9654e951a5ba44c8604c4de6c67fd78a27e81dcadcfe1edf638ba3aaebaed6',
  },
  {
    source: 1,
    message: 'Hello World',
    address: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
    messageHash: 'f0eb03b1a75ac6d9847f55c624a99169b5dccba2a31f5b23bea77ba270de0a7a',
    toSpend: 'b79d196740ad5217771c1098fc4a4b51e0535c32236c71f1ea4d61a2d603352b',
    toSign: '88737ae86f2077145f93cc4b153ae9a1cb8d56afa511988c149c5c8c9d93bddf',
  },
  {
    source: 1,
    message: 'UTF-8 support: öäüéàè 测试文本 \u{1f604}',
    address: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
    messageHash: '43936b237ea38c7794eb5d755e0d220b6db92ebfc5c8f482759d22b1286376d7',
    toSpend: 'c8f4f525fe8afb1bc09b44175bd2096f079c98425e8a1be676b712add1fb62f0',
    toSign: '8f488e06b89eafd019ec528109eafaf7f1d1811fd617aa1eeb9658f1c1be6586',
  },
] as const;

const p2wpkh = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l';
const key1 = 'L3VFeEujGtevx9w18HD1fhRbCH67Az2dpCymeRE1SoPK6XQtaN2k';
const pubkey1 = '02c7f12003196442943d8588e01aee840423cc54fc1521526a3b85c2b0cbd58872';

export const validVectors: readonly {
  source: number;
  wif: string | null;
  message: string;
  address: string;
  /** What the witness shows. */
  pubkey: string | null;
  signature: string;
}[] = [
  {
    source: 1,
    wif: null,
    message: '',
    address: p2wpkh,
    pubkey: pubkey1,
    signature:
      'smpAkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYCIBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
  },
  {
    source: 1,
    wif: key1,
    message: '',
    address: p2wpkh,
    pubkey: pubkey1,
    signature:
      'smpAkgwRQIhAPkJ1Q4oYS0htvyuSFHLxRQpFAY56b70UvE7Dxazen0ZAiAtZfFz1S6T6I23MWI2lK/pcNTWncuyL8UL+oMdydVgzAEhAsfxIAMZZEKUPYWI4BruhAQjzFT8FSFSajuFwrDL1Yhy',
  },
  {
    source: 1,
    wif: null,
    message: 'Hello World',
    address: p2wpkh,
    pubkey: pubkey1,
    signature:
      'smpAkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
  },
  {
    source: 1,
    wif: key1,
    message: 'Hello World',
    address: p2wpkh,
    pubkey: pubkey1,
    signature:
      'smpAkgwRQIhAOzyynlqt93lOKJr+wmmxIens//zPzl9tqIOua93wO6MAiBi5n5EyAcPScOjf1lAqIUIQtr3zKNeavYabHyR8eGhowEhAsfxIAMZZEKUPYWI4BruhAQjzFT8FSFSajuFwrDL1Yhy',
  },
  {
    source: 1,
    wif: 'KyrSGCFPhqZMjCe5fNTYddiLMp4tMj4gLKuJ26TsB2rvr1VJGPbt',
    message: 'No prefix fallback',
    address: 'bc1pss0zhytly75awhm6x2hhvd5lnzv3vssgrf9axfheq8ldyzn88ges79fler',
    pubkey: null,
    signature:
      'AUCJYOwOjxYAvatTAGYaVlNXBVyFuc4MwNQkOuK2tl8xhfKDONd0NjfYyNSYcRqeCp8hsAnCEPHAVEkO9h6vbQ/R',
  },
  {
    source: 2,
    wif: 'L1W6mc2yYRcDCkhwhFASvvacvp6Pm4u29dxK9RJHVorXqLciTdq4',
    message: 'ESHJI7MWUL64AXHBI42L3UR4QA',
    address: 'bc1qkntwc3c4dzxh9xh6875l03fn3vkk023jgak3u7',
    pubkey: '034c0daf33c6ceb54160bde9d20d49af92aeda58dc284c1d0232233a71aac7635b',
    signature:
      'AkcwRAIgCYHF/vn67iZX5WBimh84kqD6pTME6eNCMGhfFnnwCNECIAF3nMCk/RfLit+uv8a8FgfQIw0f0ASE21GSz7rX17PsASEDTA2vM8bOtUFgvenSDUmvkq7aWNwoTB0CMiM6carHY1s=',
  },
  {
    source: 2,
    wif: 'L1rPtXzPkeCuXArPk5QKfaU4PCx16S2zCXnYtFSMGHiDkQyWw5fv',
    message: 'TPIZPITUIHEUHO5ACOL6W6MBVD',
    address: 'bc1p9cyuceaazr8cz46mvgkzl94wy397mwpqsrk84su37t72jvkg6wzqv52nfp',
    pubkey: null,
    signature:
      'AUBay6NwR4LEYedkTG+vE9F7C0RTOCB5NH6ZAqf+3hudjHIkOzSZk1jW/5Kt0wRKX3llJ25os+0qktdou4/Y8516',
  },
  {
    source: 4,
    wif: null,
    message: 'Hello World',
    address: 'bc1ppv609nr0vr25u07u95waq5lucwfm6tde4nydujnu8npg4q75mr5sxq8lt3',
    pubkey: null,
    signature:
      'AUHd69PrJQEv+oKTfZ8l+WROBHuy9HKrbFCJu7U1iK2iiEy1vMU5EfMtjc+VSHM7aU0SDbak5IUZRVno2P5mjSafAQ==',
  },
  {
    source: 5,
    wif: key1,
    message: 'Hello World',
    address: '37qyp7jQAzqb2rCBpMvVtLDuuzKAUCVnJb',
    pubkey: pubkey1,
    signature:
      'AkcwRAIgRfq2Gfv9guFcXAf2vQEJSHX8FP5OuiHs1DSK1I0wk/0CIGPzqm6QNPTDJuki148OQ2DbJtXyrr71s4xYPwogQUupASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
  },
];

const emptySigned =
  'smpAkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYCIBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=';
const wpkhSigned =
  'AkcwRAIgCYHF/vn67iZX5WBimh84kqD6pTME6eNCMGhfFnnwCNECIAF3nMCk/RfLit+uv8a8FgfQIw0f0ASE21GSz7rX17PsASEDTA2vM8bOtUFgvenSDUmvkq7aWNwoTB0CMiM6carHY1s=';
const trSigned =
  'AUBay6NwR4LEYedkTG+vE9F7C0RTOCB5NH6ZAqf+3hudjHIkOzSZk1jW/5Kt0wRKX3llJ25os+0qktdou4/Y8516';

export const invalidVectors: readonly {
  source: number;
  description: string;
  message: string;
  address: string;
  signature: string;
}[] = [
  {
    source: 1,
    description: 'invalid base64 encoding',
    message: '',
    address: p2wpkh,
    signature: 'not-valid-base64!!!',
  },
  { source: 1, description: 'empty signature', message: '', address: p2wpkh, signature: '' },
  {
    source: 1,
    description: 'wrong message for valid simple p2wpkh signature',
    message: 'Wrong message that was not signed',
    address: p2wpkh,
    signature: emptySigned,
  },
  {
    source: 1,
    description: 'wrong address for valid simple p2wpkh signature',
    message: '',
    address: 'bc1qp0ahvfh83088w49k405szqgg4f3pptr7p2g06tdxfjcd40z4lh4q95lsz9',
    signature: emptySigned,
  },
  {
    source: 1,
    description: 'empty witness stack (single zero byte)',
    message: '',
    address: p2wpkh,
    signature: 'smpAA==',
  },
  {
    source: 1,
    description: 'invalid signature prefix',
    message: '',
    address: p2wpkh,
    signature: 'fooAA==',
  },
  {
    source: 1,
    description: 'incorrect prefix type',
    message: 'incorrect prefix',
    address: 'bc1pyrgrm6cu6n54jrvkdjd9rvyd3xfyu84s2623awu2srn6mxhscwpsm5644w',
    signature:
      'fulAUDZwFXUp+adN+/UZj5dVrGAbB3zKs1Vcalz5fCF9srxS63eSWNGvH1NYbrBkPt1BJDUyWUz9zgUxfc63/QheT6M',
  },
  {
    source: 2,
    description: 'wrong message for p2wpkh simple signature',
    message: 'OVKTTPEFKLUOTAOJSPCKIHCQZW',
    address: 'bc1qkntwc3c4dzxh9xh6875l03fn3vkk023jgak3u7',
    signature: wpkhSigned,
  },
  {
    source: 2,
    description: 'wrong signer for p2wpkh simple signature',
    message: 'ESHJI7MWUL64AXHBI42L3UR4QA',
    address: 'bc1qx3f9s3scavc92s3g2fhwzqzn7qucd37ez03jpf',
    signature: wpkhSigned,
  },
  {
    source: 2,
    description: 'wrong message for p2tr simple signature',
    message: 'IHUVDIXOZV7EE7RU6CP7JUS57N',
    address: 'bc1p9cyuceaazr8cz46mvgkzl94wy397mwpqsrk84su37t72jvkg6wzqv52nfp',
    signature: trSigned,
  },
  {
    source: 2,
    description: 'wrong signer for p2tr simple signature',
    message: 'TPIZPITUIHEUHO5ACOL6W6MBVD',
    address: 'bc1pr72av8sh7qc2ssxs8w0hlj0cl82g2q2dvypngzgsrmd4plml84ksmfyv0q',
    signature: trSigned,
  },
];

/** [2], "full": the prevout of to_sign is the to_spend of a P2SH-P2WPKH address. */
export const nestedToSpend = {
  message: 'OQXDXSR5SN5N7WRXSPTI462HKH',
  address: '37HVPoc7ZsU5C9Z2VKcCkSLzEknYXCzm3s',
  toSpend: 'bf4e01428458ff951cc6572e504d6735c2e9f16634b8d1b8327a1e13c50663bb',
} as const;
