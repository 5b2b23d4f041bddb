import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';

const SRC = join(import.meta.dirname, '../src');

/** Attributes and properties that people read or hear. */
const READ_BY_PEOPLE = new Set([
  ...['alt', 'aria-label', 'hint', 'label', 'placeholder', 'text', 'title'],
  ...['advice', 'caption', 'confirm', 'lead', 'seriesTitle', 'submit', 'trigger', 'why'],
]);

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** The texts that an expression shows: a literal, the fixed parts of a template, or those of its branches. */
function shownBy(value: unknown): string[] {
  if (!isNode(value)) return [];
  switch (value.type) {
    case 'StringLiteral':
    case 'JSXText':
      return [String(value['value'])];
    case 'TemplateLiteral':
      return (value['quasis'] as { raw: string }[]).map(({ raw }) => raw);
    case 'JSXExpressionContainer':
    case 'ParenthesisExpression':
      return shownBy(value['expression']);
    case 'ConditionalExpression':
      return [...shownBy(value['consequent']), ...shownBy(value['alternate'])];
    case 'BinaryExpression':
      return ['||', '??', '&&', '+'].includes(String(value['operator']))
        ? [...shownBy(value['left']), ...shownBy(value['right'])]
        : [];
    default:
      return [];
  }
}

function nameOf(value: unknown): string {
  return isNode(value) ? String(value['value']) : '';
}

const hasLetters = (text: string) => /\p{L}/u.test(text);
/** Distinguishes a text from the id of a message. */
const isSentence = (text: string) => hasLetters(text) && /^\P{Ll}|\s/u.test(text);

/** The texts that a node itself shows to people, without those of the nodes in it. */
function ownTexts(node: Node): string[] {
  if (node.type === 'JSXElement' || node.type === 'JSXFragment') {
    return (node['children'] as Node[]).flatMap(shownBy).filter(hasLetters);
  }
  if (node.type === 'JSXAttribute' && READ_BY_PEOPLE.has(nameOf(node['name']))) {
    return shownBy(node['value']).filter(hasLetters);
  }
  if (node.type === 'KeyValueProperty' && READ_BY_PEOPLE.has(nameOf(node['key']))) {
    return shownBy(node['value']).filter(isSentence);
  }
  return [];
}

/** Texts anywhere else, such as a function's answer. Not the messages of errors, which are for developers. */
function findSentences(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(findSentences);
  if (typeof value !== 'object' || value === null) return [];
  const { type, callee } = value as { type?: unknown; callee?: unknown };
  const isError = type === 'NewExpression' || (isNode(callee) && callee.type === 'Super');
  if (isError || type === 'ImportDeclaration') return [];
  const isText = type === 'StringLiteral' || type === 'TemplateLiteral';
  const own = isText ? shownBy(value).filter((text) => /^\p{Lu}.*\s\p{Ll}/u.test(text)) : [];
  return [...own, ...Object.values(value).flatMap(findSentences)];
}

function findTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(findTexts);
  if (typeof value !== 'object' || value === null) return [];
  const own = isNode(value) ? ownTexts(value) : [];
  return [...own, ...Object.values(value).flatMap(findTexts)];
}

function textsOf(source: string): string[] {
  const { body } = parseSync(source, { syntax: 'typescript', tsx: true });
  const found = [...findTexts(body), ...findSentences(body)].map((text) => text.trim());
  return [...new Set(found)];
}

test.each<[string, readonly string[]]>([
  ['<p>Hello</p>', ['Hello']],
  ["<p>{isOld ? 'Old' : text('new')}</p>", ['Old']],
  ['<Card label="Step 1" id="step" />', ['Step 1']],
  ["columns = [{ title: 'Name', cell: () => <code>{id}</code> }]", ['Name']],
  ["sum = () => 'This app has changed';", ['This app has changed']],
  ['<p className="wide">{text(\'title\', { app })} · {count}</p>', []],
  ["titles = { title: 'sessionEndedTitle', kind: 'Plain' }", []],
])('a literal text is found: %s', (source, texts) => {
  expect(textsOf(source)).toEqual(texts);
});

test('no source file holds a literal text instead of a message of a catalogue', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: SRC }).map((file) => file.replaceAll('\\', '/'));
  expect(files).toContain('app.tsx');
  const found = files
    .map((file) => [file, textsOf(readFileSync(join(SRC, file), 'utf8'))] as const)
    .filter(([, texts]) => texts.length > 0);
  expect(Object.fromEntries(found)).toEqual({});
});
