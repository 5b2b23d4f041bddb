import { describe, expect, test } from '@jest/globals';
import { element, exportXml, metadata, recordXml } from '@phds/test-kit/apple-exports';
import { type ExportElement, ExportParser } from '../../src/importers/apple/export-parser.ts';

/** Parses a document in chunks of this size. Throws UnusableFile. */
function parse(document: string | Uint8Array, pieceBytes = 1_000_000) {
  const bytes = Buffer.from(document);
  const parser = new ExportParser();
  const elements: ExportElement[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    elements.push(...parser.write(bytes.subarray(at, at + pieceBytes)));
  parser.end();
  return elements;
}

const values = (document: string | Uint8Array) =>
  parse(document).map(({ attributes }) => attributes['value']);

describe('an export', () => {
  const document = exportXml(
    element('Me', { HKCharacteristicTypeIdentifierDateOfBirth: '1990-05-20' }),
    recordXml({ value: '61' }, metadata('HKTimeZone', 'Europe/Oslo'), metadata('HKWasUserEntered', '1')),
    element('Correlation', { type: 'x' }, recordXml({ value: '62' }, metadata('HKTimeZone', 'Asia/Tokyo'))),
    element('Workout', {}, element('WorkoutRoute', {}, element('Location', { latitude: '1.5' }))),
    recordXml({ value: '63', sourceName: 'Zoë & Ji’s <iPhone>' }),
  );

  test('yields the elements below the root, with line and metadata', () => {
    const elements = parse(document);
    expect(elements.map(({ name, line }) => [name, line])).toEqual([
      ['ExportDate', 8],
      ['Me', 9],
      ['Record', 10],
      ['Correlation', 14],
      ['Workout', 19],
      ['Record', 24],
    ]);
    expect(elements[2]).toMatchObject({ wasUserEntered: true, timeZone: 'Europe/Oslo' });
    // Metadata of a nested element does not apply to its parent.
    expect(elements[3]).toMatchObject({ wasUserEntered: false, timeZone: '' });
    expect(elements[5]?.attributes['sourceName']).toBe('Zoë & Ji’s <iPhone>');
  });

  test.each([1, 2, 3, 7, 64, 1000])('yields the same in chunks of %i bytes', (pieceBytes) => {
    expect(parse(document, pieceBytes)).toEqual(parse(document));
  });

  test('may have no declarations, a byte order mark, and comments', () => {
    expect(values('<HealthData><Record value="1"/></HealthData>')).toEqual(['1']);
    expect(
      values('\ufeff<?xml version="1.0"?>\n<!-- - > -->\n<HealthData><Record value="1"/></HealthData>\n'),
    ).toEqual(['1']);
  });

  test('yields the end of each element, in characters', () => {
    const [first, second] = ['<Record value="1"/>', '<Record value="2"><a>’</a></Record>'];
    const ends = parse(`<HealthData>${first}\n${second}</HealthData>`).map(({ end }) => end);
    expect(ends).toEqual([12 + first.length, 12 + first.length + 1 + second.length]);
  });
});

describe('the document type', () => {
  const withType = (type: string) =>
    `<?xml version="1.0"?>\n${type}\n<HealthData><Record value="1"/></HealthData>`;

  test.each([
    [
      "is accepted in Apple's malformed form",
      '<!DOCTYPE HealthData [\n<!ATTLIST Me\n <!ELEMENT Record ((\n<!ATTLIST x y>\n]>',
    ],
    ['with space before its end', '<!DOCTYPE HealthData [ <!ELEMENT a EMPTY> ]\n >'],
    ['without content', '<!DOCTYPE HealthData>'],
    ['with its own end in a text', '<!DOCTYPE HealthData [<!ENTITY a "]>">]>'],
    ['with its own end in a comment', '<!DOCTYPE HealthData [<!-- ]> -->]>'],
    ['with a stray quote', '<!DOCTYPE HealthData [\n<!ATTLIST Me a CDATA "x>\n<!ELEMENT Me EMPTY>\n]>'],
    ['with a comment that does not end', '<!DOCTYPE HealthData [\n<!-- Metadata\n<!ELEMENT Me EMPTY>\n]>'],
    ['with a comment before it', "<!-- the phone's > -->\n<!DOCTYPE HealthData [<!-- isn't -->]>"],
    ['of a file elsewhere', '<!DOCTYPE HealthData SYSTEM "file:///etc/passwd">'],
  ])('%s is skipped', (_name, type) => {
    expect(values(withType(type))).toEqual(['1']);
    expect(parse(withType(type))[0]?.line).toBe(2 + type.split('\n').length);
    expect(parse(withType(type), 1)).toEqual(parse(withType(type)));
  });

  test('declares no entities: a bomb does not expand, a file is not fetched', () => {
    const bomb =
      '<!DOCTYPE HealthData [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>';
    for (const entity of ['b', 'f', 'nbsp']) {
      const document = `${bomb}\n<HealthData><Record value="&${entity};"/></HealthData>`;
      expect(() => parse(document)).toThrow('The file is not well-formed XML in line 2: undefined entity.');
    }
  });

  test('that does not end is refused', () => {
    expect(() => parse(`<!DOCTYPE HealthData [${' '.repeat(2_000_000)}`, 65_536)).toThrow(
      'The text before the root element is larger than 1 MB.',
    );
    for (const type of [`<!DOCTYPE ${'x'.repeat(10_000)}`, '<!DOCTYPE HealthData [<!ELEMENT a EMPTY>'])
      expect(() => parse(type)).toThrow('The file is not well-formed XML in line 1');
  });
});

describe('a hostile or damaged file', () => {
  test('control characters are removed', () => {
    const document = Buffer.from('<HealthData><Record \u000bvalue="1\u0000\u000b2"/>\u0007</HealthData>');
    expect(values(document)).toEqual(['12']);
  });

  test('bytes that are not UTF-8 are reported', () => {
    const head = '<HealthData><Record value="';
    const bytes = Buffer.concat([
      Buffer.from(head),
      Buffer.from([0x41, 0xff, 0x42]),
      Buffer.from('"/></HealthData>'),
    ]);
    expect(() => parse(bytes)).toThrow(`The file is not UTF-8 text (at byte ${head.length + 1}).`);
    expect(() =>
      parse(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<HealthData/>', 'utf16le')])),
    ).toThrow('The file is not UTF-8 text (at byte 0).');
    expect(() => parse(Buffer.concat([Buffer.from('<HealthData/>'), Buffer.from([0xe2, 0x80])]))).toThrow(
      'not UTF-8',
    );
  });

  test('deep nesting is refused', () => {
    expect(() => parse(`<HealthData>\n${'<a>'.repeat(100_000)}`)).toThrow(
      'Elements are nested too deep in line 2.',
    );
  });

  test.each([
    ['attribute', `<HealthData>\n<Record value="${'x'.repeat(3_000_000)}`],
    [
      'attribute list',
      `<HealthData>\n<Record ${Array.from({ length: 300_000 }, (_, n) => `a${n}=""`).join(' ')}`,
    ],
    ['text', `<HealthData>\n<a/>${'x'.repeat(3_000_000)}`],
    ['comment', `<HealthData>\n<a/><!--${'x'.repeat(3_000_000)}`],
    ['name', `<HealthData>\n<${'x'.repeat(3_000_000)}`],
  ])('a huge %s is refused before it has been read completely', (_name, document) => {
    const parser = new ExportParser();
    const bytes = Buffer.from(document);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
      bytes.subarray(index * 65_536, (index + 1) * 65_536),
    );
    let read = 0;
    const parseAll = () => {
      for (const piece of pieces) {
        parser.write(piece);
        read += piece.length;
      }
    };
    expect(parseAll).toThrow('is larger than 1 MB.');
    expect(read).toBeLessThan(1_500_000);
  });

  test('an element with a million children does not use memory for them', () => {
    const children = '<MetadataEntry key="k" value="v"/>'.repeat(200_000);
    const [record] = parse(`<HealthData><Record>${children}</Record></HealthData>`, 65_536);
    expect(record).toEqual({
      name: 'Record',
      attributes: {},
      line: 1,
      end: expect.any(Number),
      wasUserEntered: false,
      timeZone: '',
      problem: '',
    });
  });

  test.each([
    ['attribute without value', '<Record Health Mate App Version="2.6" value="1"/>'],
    ['no whitespace between attributes', '<Record type="x"value="1"/>'],
    ['duplicate attribute', '<Record value="1" value="2"></Record>'],
    ['attribute without value', '<Record value="1"><MetadataEntry key value="v"/></Record>'],
  ])('a tag with the mistake "%s" costs only its element', (problem, record) => {
    const problems = parse(`<HealthData>\n${record}<Record value="3"/></HealthData>`, 7).map(
      (each) => each.problem,
    );
    expect(problems).toEqual([`is not well-formed: ${problem}`, '']);
  });

  test.each([
    ['', 'The file is empty.'],
    ['<HealthData>\n<Record value="1"/>\n', 'The file ends in the middle, in line 3: it is cut off.'],
    ['<HealthData>\n<Record val', 'The file ends in the middle, in line 2: it is cut off.'],
    ['<HealthData/><HealthData/>', 'not well-formed XML in line 1'],
    ['<HealthData></HealthData>more', 'not well-formed XML in line 1'],
    [
      '<HealthData>\n<Record a="B&W"/>\n</HealthData>\n',
      'not well-formed XML in line 2: its end is not found.',
    ],
    ['<HealthData a="1" a="2"></HealthData>', 'not well-formed XML in line 1: duplicate attribute.'],
    ['<HealthData><Record></HealthData>', 'not well-formed XML in line 1: unexpected close tag'],
    ['<HealthData><Record a="My "Watch""/></HealthData>', 'not well-formed XML'],
    [
      '<ClinicalDocument/>',
      'not an Apple Health export: its root element is ClinicalDocument instead of HealthData.',
    ],
    ['{"resourceType":"Bundle"}', 'not well-formed XML in line 1'],
    ['plain text', 'not well-formed XML in line 1'],
  ])('%j is named', (document, message) => {
    expect(() => parse(document)).toThrow(message);
  });
});
