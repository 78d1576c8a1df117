/** An object of a store. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** Where objects are kept, by keys of names joined by slashes. An object is there whole, and durably, or not at all. */
export interface ObjectStore {
  /** Keeps a copy of a local file under a key; an object of that key is replaced. */
  putFile(key: string, path: string): Promise<void>;
  /** Makes an object, and answers whether it was made: false where there is one of that key, which stays as it is. */
  create(key: string, text: string): Promise<boolean>;
  /** The text of an object; undefined where there is none. */
  read(key: string): Promise<string | undefined>;
  /** Objects whose keys begin with a prefix that ends with a slash, by rising key. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Names of the folders directly below a prefix that ends with a slash, by rising name: what stands up to the next slash of keys. */
  folders(prefix: string): Promise<readonly string[]>;
  /** The bytes of an object from `from` to the one before `to`. Rejects where there are fewer, or no such object. */
  readRange(key: string, from: number, to: number): Promise<Buffer>;
  /** Removes an object; one that is not there is removed already. */
  remove(key: string): Promise<void>;
  /** The path of an object where objects are local files; undefined elsewhere. */
  pathOf(key: string): string | undefined;
}
