import { writeFileSync } from 'node:fs';
import { tableDocument } from './table-document.ts';

writeFileSync(new URL('../../shared/table/TABLE.md', import.meta.url), tableDocument());
