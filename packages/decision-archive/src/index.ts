export { type ArchiverObserver, createArchiver } from './archiver';
export { openParquetWriter } from './engine/parquet-writer';
export { openObjectStore } from './store/open-store';
