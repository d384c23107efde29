// Links into the swap box: once a press, and a warning of those of strangers alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLinkTaken, isOwnLink, ownLink, takeLink } from './box-link.ts';

test('a link fills the form in once, and again where a button of the app is pressed', () => {
  assert.deepEqual([isLinkTaken('give=a'), isOwnLink('give=a')], [false, false]);
  takeLink('give=a');
  assert.deepEqual(
    [isLinkTaken('give=a'), isLinkTaken('give=b'), isLinkTaken('')],
    [true, false, false],
  );
  ownLink('give=a');
  assert.deepEqual([isLinkTaken('give=a'), isOwnLink('give=a')], [false, true]);
  assert.equal(isOwnLink('give=b'), false);
});
