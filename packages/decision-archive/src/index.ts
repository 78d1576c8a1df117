export { ArchiveError } from './archive-error';
export { type ArchiverObserver, createArchiver } from './archiver';
export { type Engine, openEngine } from './engine/engine';
export { poolOf } from './engine/engine-pool';
export { archiveAnswers, type ArchiveReading } from './reading/archive-answers';
export { type ArchiveVisibility } from './reading/archive-sql';
export { filesOf } from './reading/local-objects';
export { openCopies } from './reading/object-copies';
export { openObjectStore } from './store/open-store';
