/** The position of a column chunk in its object: from a byte to the one before `to`. */
interface ColumnChunk {
  /** The column, or the one that it is a member of. */
  readonly column: string;
  readonly from: number;
  readonly to: number;
}

/** Bytes at the end of an object that give the length of its footer: four of the length, and the magic number. */
export const FOOTER_END = 8;
const MARK = 'PAR1';

/** The length of an object's footer, read from its last bytes; undefined if they are not those of Parquet. */
export const footerLength = (tail: Buffer): number | undefined =>
  tail.length >= FOOTER_END && tail.toString('latin1', tail.length - MARK.length) === MARK
    ? tail.readUInt32LE(tail.length - FOOTER_END)
    : undefined;

/** The column chunks that a footer names; `footer` is without its end. @throws {RangeError} if it is not a Parquet footer. */
export const chunksOf = (footer: Buffer): readonly ColumnChunk[] => {
  const metadata = new CompactReader(footer).struct(0);
  return listOf(metadata.get(ROW_GROUPS)).flatMap((group) =>
    listOf(structOf(group).get(COLUMNS)).map((chunk) => chunkOf(structOf(structOf(chunk).get(METADATA)))),
  );
};

/** Field numbers in the format's definition. */
const ROW_GROUPS = 4;
const COLUMNS = 1;
const METADATA = 3;
const PATH = 3;
const COMPRESSED_BYTES = 7;
/** Offsets of data, index and dictionary; a chunk begins at the smallest of them. */
const OFFSETS = [9, 10, 11];

const chunkOf = (metadata: Struct): ColumnChunk => {
  const [name] = listOf(metadata.get(PATH));
  const bytes = metadata.get(COMPRESSED_BYTES);
  const offsets = OFFSETS.map((id) => metadata.get(id)).filter((at) => typeof at === 'number' && at > 0) as number[]; // checked here
  const from = Math.min(...offsets);
  if (!Buffer.isBuffer(name) || typeof bytes !== 'number' || bytes < 0 || !Number.isSafeInteger(from + bytes))
    throw new RangeError('A column chunk has no name or no position.');
  return { column: name.toString(), from, to: from + bytes };
};

/** Members by their numbers. */
type Struct = ReadonlyMap<number, Value>;
type Value = number | boolean | Buffer | readonly Value[] | Struct;

const listOf = (value: Value | undefined): readonly Value[] => {
  if (Array.isArray(value)) return value as readonly Value[]; // a list of values, as this module reads them
  throw new RangeError('A list is missing.');
};
const structOf = (value: Value | undefined): Struct => {
  if (value instanceof Map) return value;
  throw new RangeError('A structure is missing.');
};

const DEEPEST = 32;
const BYTES_OF_DOUBLE = 8;

/** Reads the compact protocol of Thrift, in which footers are written. Lengths are checked against the remaining bytes. */
class CompactReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  struct(depth: number): Struct {
    if (depth > DEEPEST) throw new RangeError('It nests too deeply.');
    const members = new Map<number, Value>();
    for (let id = 0, header = this.byte(); header !== 0; header = this.byte()) {
      const step = header >> 4;
      id = step === 0 ? this.signed() : id + step;
      const type = header & 15;
      members.set(id, type === 1 || type === 2 ? type === 1 : this.value(type, depth));
    }
    return members;
  }

  private value(type: number, depth: number): Value {
    if (type === 3 || type === 1 || type === 2) return this.byte();
    if (type >= 4 && type <= 6) return this.signed();
    if (type === 7) return this.take(BYTES_OF_DOUBLE).readDoubleLE();
    if (type === 8) return this.take(this.unsigned());
    if (type === 9 || type === 10) return this.list(depth + 1);
    if (type === 12) return this.struct(depth + 1);
    throw new RangeError('It has a type that footers do not have.');
  }

  private list(depth: number): readonly Value[] {
    if (depth > DEEPEST) throw new RangeError('It nests too deeply.');
    const header = this.byte();
    const length = header >> 4 === 15 ? this.unsigned() : header >> 4;
    if (length > this.bytes.length - this.at) throw new RangeError('A list is longer than the rest.');
    return Array.from({ length }, () => this.value(header & 15, depth));
  }

  private byte(): number {
    return this.take(1).readUInt8();
  }

  private take(length: number): Buffer {
    if (length > this.bytes.length - this.at) throw new RangeError('It ends too early.');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  private unsigned(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      if (factor > Number.MAX_SAFE_INTEGER) throw new RangeError('A number is too long.');
    }
  }

  /** Signed numbers use zigzag encoding: 0, -1, 1, -2, ... */
  private signed(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
