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
  readonly type?: string;
  readonly [field: string]: unknown;
}

type Judge = (text: string) => boolean;

const hasLetters = (text: string) => /\p{L}/u.test(text);
const isSentence = (text: string) => /^\p{Lu}.*\s\p{Ll}/u.test(text);
/** Distinguishes a text from the id of a message. */
const isNoId = (text: string) => hasLetters(text) && /^\P{Ll}|\s/u.test(text);

/** The fields of expressions whose value is theirs. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  TemplateLiteral: ['quasis'],
  ConditionalExpression: ['consequent', 'alternate'],
  BinaryExpression: ['left', 'right'],
  JSXExpressionContainer: ['expression'],
  ParenthesisExpression: ['expression'],
};
const COMBINING = ['||', '??', '&&', '+'];

/** What is a text in some fields of a node; in the others, sentences are. */
function judgeParts({ type = '', ...node }: Node, isText: Judge): [Judge, readonly string[]] {
  if (type === 'JSXElement' || type === 'JSXFragment') return [hasLetters, ['children']];
  if (type === 'JSXAttribute' && isRead(node['name'])) return [hasLetters, ['value']];
  if (type === 'KeyValueProperty' && isRead(node['key'])) return [isNoId, ['value']];
  const isOther = type === 'BinaryExpression' && !COMBINING.includes(String(node['operator']));
  return [isText, isOther ? [] : (PARTS[type] ?? [])];
}

/** The messages of errors are for developers. */
function isOfError({ type, callee }: Node): boolean {
  return type === 'NewExpression' || (callee as Node | undefined)?.type === 'Super';
}

/** The texts in a syntax tree that people would see. */
function findTexts(value: unknown, isText: Judge = isSentence): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => findTexts(each, isText));
  if (typeof value !== 'object' || value === null) return [];
  const node = value as Node;
  if (isOfError(node) || node.type === 'ImportDeclaration') return [];
  if (node.type === 'TemplateElement') return [String(node['raw'])].filter(isText);
  if (/^(StringLiteral|JSXText)$/.test(node.type ?? '')) return [String(node['value'])].filter(isText);
  const [judge, parts] = judgeParts(node, isText);
  return Object.entries(node).flatMap(([field, part]) =>
    findTexts(part, parts.includes(field) ? judge : isSentence),
  );
}

function isRead(name: unknown): boolean {
  return READ_BY_PEOPLE.has(String((name as { readonly value?: unknown }).value));
}

function textsOf(source: string): string[] {
  const { body } = parseSync(source, { syntax: 'typescript', tsx: true });
  return findTexts(body).map((text) => text.trim());
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
