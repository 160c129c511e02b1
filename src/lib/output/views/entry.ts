/** A text behind its label, or below it where there is little room; an empty label goes on with the one before. */
export type Entry = (label: string, text: string) => string[]
