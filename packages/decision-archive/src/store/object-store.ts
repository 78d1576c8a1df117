/** An object of a store. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** A store of objects, whose keys are names joined by slashes. An object exists completely and durably, or not at all. */
export interface ObjectStore {
  /** Keeps a copy of a local file under a key; an object of that key is replaced. */
  putFile(key: string, path: string): Promise<void>;
  /** Creates an object; answers false if the key exists, and then leaves its object unchanged. */
  create(key: string, text: string): Promise<boolean>;
  /** The text of an object; undefined if there is none. */
  read(key: string): Promise<string | undefined>;
  /** Objects whose keys begin with a prefix that ends with a slash, in ascending order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Names of the folders directly below a prefix that ends with a slash, in ascending order: the part of keys up to the next slash. */
  folders(prefix: string): Promise<readonly string[]>;
  /** The bytes of an object from `from` to the one before `to`. Rejects if there are fewer, or no such object. */
  readRange(key: string, from: number, to: number): Promise<Buffer>;
  /** Removes an object, if it exists. */
  remove(key: string): Promise<void>;
  /** The path of an object where objects are local files; undefined otherwise. */
  pathOf(key: string): string | undefined;
}
