/** Each question is asked once and its answer remembered; a failure is not, so that whoever asks again tries again. */
export class Answers {
  readonly #known = new Map<string, Promise<unknown>>()

  /** `question` says all that `ask` depends on. */
  once<T>(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(question) as Promise<T> | undefined
    if (known !== undefined) return known
    const answer = ask()
    this.#known.set(question, answer)
    answer.catch(() => this.#known.delete(question))
    return answer
  }

  forget(): void {
    this.#known.clear()
  }
}
