/** Something that the person who starts the local cloud can put right: its message is one sentence that says how. */
export class StartProblem extends Error {}
