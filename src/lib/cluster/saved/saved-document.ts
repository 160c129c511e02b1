/** One document of a file, and the line on which it begins. */
export interface SavedDocument {
  value: unknown
  line: number
}
