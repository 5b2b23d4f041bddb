import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { GROUPS, readPages, titleOf } from '../src/source.ts';

const titles = new Map(readPages().map((page) => [page.slug, titleOf(page.markdown)]));
const sidebar = GROUPS.map(({ title, slugs }) => ({
  text: title,
  items: slugs.map((slug) => ({
    text: titles.get(slug) ?? slug,
    link: slug === 'README' ? '/' : `/${slug}`,
  })),
}));
/** It is no page of VitePress, so the browser loads it. */
const reference = { text: 'API reference', link: '/reference', target: '_self' };

export default defineConfig({
  base: '/docs/',
  srcDir: 'pages',
  cleanUrls: true,
  lang: 'en',
  title: 'Partner Health Data',
  description: 'How partner apps read the health data of people who have consented.',
  // The gateway replaces it by what its settings state about the deployment.
  head: [['meta', { name: 'deployment', content: '{{deployment}}' }]],
  // In a file, because the content security policy allows no other inline script than those of VitePress, by their hashes.
  metaChunk: true,
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // A page that is one wide table has no outline, which leaves more room.
  transformPageData({ relativePath, frontmatter }) {
    if (/^(metrics|problems)\.md$/.test(relativePath)) frontmatter['aside'] = false;
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [reference],
    sidebar: [...sidebar, { text: '', items: [reference] }],
    outline: [2, 3],
  },
});
