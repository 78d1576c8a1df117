import { fileURLToPath } from 'node:url';
import { openFileStore } from './file-store';
import { type ObjectStore } from './object-store';
import { readS3Address } from './s3-address';
import { openS3Store } from './s3-store';
import { ArchiveError } from '../archive-error';

/**
 * Opens the store that a URL names: `file:///path` is a folder, which is made if needed; `s3://bucket/prefix` is parsed by {@link
 * readS3Address}, without a request yet. Rejects with a sentence about the fault.
 */
export const openObjectStore = async (url: string): Promise<ObjectStore> => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 's3:') return openS3Store(readS3Address(parsed));
  if (parsed?.protocol !== 'file:' || parsed.host !== '')
    throw new ArchiveError(
      'not_opened',
      `"${url}" is not a URL of an archive: write file:///path of a folder, or s3://bucket/prefix.`,
    );
  return openFolder(fileURLToPath(parsed));
};

const openFolder = async (folder: string): Promise<ObjectStore> => {
  try {
    return await openFileStore(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'; // only asked for a code
    throw new ArchiveError(
      'not_opened',
      `The folder ${folder} cannot be made (${code}). Name one that this process may write.`,
      { cause: error },
    );
  }
};
