import { crc32, deflateRawSync } from 'node:zlib';

/** A file of an archive. Any field besides name and content makes its header false. */
export interface ZipMember {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Default: deflate. */
  readonly method?: number;
  /** General purpose bits; by default names are UTF-8. */
  readonly flags?: number;
  /** Unix file type and mode. */
  readonly mode?: number;
  readonly statedSize?: number;
  readonly statedPackedSize?: number;
  readonly statedChecksum?: number;
  /** Bytes to write instead of the packed content. */
  readonly packed?: Uint8Array;
  /** Whether to write sizes and offset in a zip64 extra field. */
  readonly zip64?: boolean;
  /** Whether the central directory refers to the bytes of the first member instead of own ones, with the same content. */
  readonly sharesFirst?: boolean;
}

const UTF8_NAMES = 0x800;
const DEFLATED = 8;
const IN_EXTRA = 0xffffffff;

/** Builds an archive manually, because tests need archives that no program would write (APPNOTE 6.3.10). */
export function toZip(members: readonly ZipMember[]): Buffer {
  const parts: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const entry = toEntry(member, member.sharesFirst === true ? 0 : offset);
    central.push(entry.central);
    if (member.sharesFirst === true) continue;
    parts.push(entry.local, entry.packed);
    offset += entry.local.length + entry.packed.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...parts, directory, toEnd(members.length, directory.length, offset)]);
}

/**
 * An archive of nested members (Fifield, "A better zip bomb", WOOT 2019): the packed content of each is a stored block with the
 * local header of the next, followed by the packed content of the next. All of them end in `content`, which the archive contains
 * once, and all sizes and checksums are true.
 */
export function toQuotingZip(names: readonly string[], content: Uint8Array): Buffer {
  let [inner, packed, local] = [Buffer.from(content), deflateRawSync(content), Buffer.alloc(0)];
  // From the last to the first; all members end at the same byte.
  const members: { readonly bytes: number; readonly toCentral: (offset: number) => Buffer }[] = [];
  for (const name of names.toReversed()) {
    if (members.length > 0) {
      const storedBlock = concat(Buffer.from([0]), short(local.length), short(0xffff - local.length), local);
      [inner, packed] = [concat(local, inner), concat(storedBlock, packed)];
    }
    const member: ZipMember = { name, content: inner, packed };
    ({ local } = toEntry(member, 0));
    const toCentral = (offset: number) => toEntry(member, offset).central;
    members.unshift({ bytes: local.length + packed.length, toCentral });
  }
  const offset = local.length + packed.length;
  const directory = concat(...members.map(({ bytes, toCentral }) => toCentral(offset - bytes)));
  return concat(local, packed, directory, toEnd(names.length, directory.length, offset));
}

function toEntry(member: ZipMember, offset: number) {
  const content = Buffer.from(member.content as string);
  const { method = DEFLATED, flags = UTF8_NAMES, mode = 0o100644 } = member;
  const packed = Buffer.from(member.packed ?? (method === DEFLATED ? deflateRawSync(content) : content));
  const name = Buffer.from(member.name);
  const [checksum, size] = [member.statedChecksum ?? crc32(content), member.statedSize ?? content.length];
  const packedSize = member.statedPackedSize ?? packed.length;
  const extra = member.zip64 === true ? toZip64(size, packedSize, offset) : Buffer.alloc(0);
  const isLarge = extra.length > 0;
  const sizes = [checksum, isLarge ? IN_EXTRA : packedSize, isLarge ? IN_EXTRA : size];
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

function concat(...parts: readonly Buffer[]) {
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
