// The usual theme without its fonts, with links to what the market serves beside the documents.

import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './theme.css';

const link = (href: string, text: string) => h('a', { href, target: '_self' }, text);

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': () =>
        h('nav', { class: 'market-links' }, [link('/', 'App'), link('/v1/docs', 'API reference')]),
    }),
};
