/** Characters that names cannot have: a name is shown on one line, and stored as UTF-8. */
export const UNNAMEABLE = /[\u0000-\u001f\u007f\p{Surrogate}]/u;
