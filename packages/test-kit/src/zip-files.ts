import { crc32, deflateRawSync } from 'node:zlib';

/** A file to be packed; whatever is given besides name and content lies about it. */
export interface ZipMember {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Packed with deflate unless told otherwise. */
  readonly method?: number;
  /** General purpose bits; names are UTF-8 by default. */
  readonly flags?: number;
  /** Unix file type and mode. */
  readonly mode?: number;
  readonly statedSize?: number;
  readonly statedChecksum?: number;
  /** Bytes that stand where the packed content should. */
  readonly packed?: Uint8Array;
  /** Sizes and offset in a zip64 extra field. */
  readonly zip64?: boolean;
}

const UTF8_NAMES = 0x800;
const DEFLATED = 8;
const IN_EXTRA = 0xffffffff;

/** Packs an archive by hand: tests need archives that no program would write (APPNOTE 6.3.10). */
export function toZip(members: readonly ZipMember[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const entry = toEntry(member, offset);
    parts.push(entry.local, entry.packed);
    central.push(entry.central);
    offset += entry.local.length + entry.packed.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...parts, directory, toEnd(members.length, directory.length, offset)]);
}

function toEntry(member: ZipMember, offset: number) {
  const content = Buffer.from(member.content as string);
  const { method = DEFLATED, flags = UTF8_NAMES, mode = 0o100644 } = member;
  const packed = Buffer.from(member.packed ?? (method === DEFLATED ? deflateRawSync(content) : content));
  const name = Buffer.from(member.name);
  const [checksum, size] = [member.statedChecksum ?? crc32(content), member.statedSize ?? content.length];
  const extra = member.zip64 === true ? toZip64(size, packed.length, offset) : Buffer.alloc(0);
  const isLarge = extra.length > 0;
  const sizes = [checksum, isLarge ? IN_EXTRA : packed.length, isLarge ? IN_EXTRA : size];
  const shared = (version: number[]) =>
    concat(
      ...version.map(short),
      short(flags),
      short(method),
      long(0),
      ...sizes.map(long),
      short(name.length),
    );
  const local = Buffer.concat([long(0x04034b50), shared([45]), short(0), name]);
  const central = Buffer.concat([
    long(0x02014b50),
    shared([0x032d, 45]),
    short(extra.length),
    concat(short(0), short(0), short(0), long(mode * 0x10000), long(isLarge ? IN_EXTRA : offset)),
    name,
    extra,
  ]);
  return { local, packed, central };
}

function toZip64(size: number, packed: number, offset: number): Buffer {
  const numbers = Buffer.alloc(24);
  for (const [index, number] of [size, packed, offset].entries())
    numbers.writeBigUInt64LE(BigInt(number), index * 8);
  return concat(short(1), short(numbers.length), numbers);
}

function toEnd(count: number, length: number, offset: number): Buffer {
  return concat(long(0x06054b50), long(0), short(count), short(count), long(length), long(offset), short(0));
}

function concat(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

function short(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(number);
  return bytes;
}

function long(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}
