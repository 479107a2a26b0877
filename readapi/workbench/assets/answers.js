// What is taken from an answer: its text, its TeX, its file.
"use strict";

/** Characters that TeX writes by name. */
const texNames = Object.fromEntries(`π pi|α alpha|β beta|γ gamma|δ delta|ε varepsilon|ζ zeta|η eta|θ theta|ι iota|κ kappa|λ lambda|μ mu|ν nu|ξ xi|ρ rho|σ sigma|τ tau|υ upsilon|φ varphi|ϕ phi|χ chi|ψ psi|ω omega|Γ Gamma|Δ Delta|Θ Theta|Λ Lambda|Ξ Xi|Π Pi|Σ Sigma|Φ Phi|Ψ Psi|Ω Omega|∞ infty|∫ int|∑ sum|∏ prod|∂ partial|≤ le|≥ ge|≠ ne|→ to|∧ wedge|∨ vee|¬ neg|∈ in|∪ cup|∩ cap|⟨ langle|⟩ rangle|⌊ lfloor|⌋ rfloor|⌈ lceil|⌉ rceil|· cdot|× times|′ prime|ⅈ mathrm{i}|ⅇ mathrm{e}|ⅆ mathrm{d}|{ {|} }|% %|# #|$ $|& &|_ _`.split("|").map((pair) => pair.split(" ")));
const texFunctions = new Set("sin cos tan cot sec csc sinh cosh tanh coth log ln exp lim arcsin arccos arctan gcd det max min".split(" "));

/** The TeX of a part of a formula. */
function tex(node) {
  const parts = [...node.children], all = () => parts.map(tex).join(""), of = (i) => tex(parts[i]), group = (i) => `{${of(i)}}`;
  const text = node.textContent.replace(/\u00a0/g, " ");
  switch (node.localName) {
    case "mi": case "mo": {
      if (/^[\u2061-\u2064]?$/.test(text)) return "";
      if (texFunctions.has(text)) return `\\${text} `;
      const written = [...text].map((c) => (c === "−" ? "-" : texNames[c] ? `\\${texNames[c]}${/[a-z]$/i.test(texNames[c]) ? " " : ""}` : c)).join("");
      return node.localName === "mi" && ([...text].length > 1 || node.getAttribute("mathvariant") === "normal" && /^[A-Za-z]+$/.test(text)) ? `\\mathrm{${written}}` : written;
    }
    case "mn": return text;
    case "mtext": return `\\text{${text.replace(/[\\{}$%&#_^~]/g, (c) => (/[{}$%&#_]/.test(c) ? "\\" + c : { "\\": "\\textbackslash{}", "^": "\\^{}", "~": "\\~{}" }[c]))}}`;
    case "mspace": return "\\,";
    case "mfrac": return node.getAttribute("linethickness") === "0" ? `{${of(0)} \\atop ${of(1)}}` : `\\frac${group(0)}${group(1)}`;
    case "msqrt": return `\\sqrt{${all()}}`;
    case "mroot": return `\\sqrt[${of(1)}]${group(0)}`;
    case "msup": return `${group(0)}^${group(1)}`;
    case "mover": return parts[1].localName === "mo" ? `\\overline${group(0)}` : `${of(0)}^${group(1)}`;
    case "msub": return `${group(0)}_${group(1)}`;
    case "munder": return `${of(0)}_${group(1)}`;
    case "munderover": case "msubsup": return `${of(0)}_${group(1)}^${group(2)}`;
    case "mtable": return `\\begin{matrix}${parts.map((line) => [...line.children].map(tex).join(" & ")).join(" \\\\ ")}\\end{matrix}`;
  }
  return all();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-take]");
  if (!button) return;
  const answer = button.closest(".answered"), said = $("[role=status]", button.parentElement), text = () => plain($(".answer", answer));
  if (button.dataset.take === "file") return save("answer.txt", "text/plain", text());
  const taken = button.dataset.take === "tex" ? tex($("math", answer)) : text();
  say(said, await (navigator.clipboard?.writeText(taken) ?? Promise.reject()).then(() => "Copied.", () => "It was not copied: select it."));
});
