/** Loads what makes linkifiers ready, 160 KB of code that a function has in a file of its own. */
export const loadLinkifierEngine = () => import('./linkifier-engine.ts');

export type LinkifierEngine = Awaited<ReturnType<typeof loadLinkifierEngine>>;
