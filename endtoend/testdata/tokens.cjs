// Counts the tokens of texts, given as a JSON array on standard input.
const { countTokens } = require(process.argv[2] + "/gpt-tokenizer/cjs/encoding/o200k_base")
console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0)).map((text) => countTokens(text))))
