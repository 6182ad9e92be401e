#pragma once

#include <string_view>

/// Fixed parts of the section on attention: what is seen, for a learner, and the controls that
/// matrices.js fills with life.
namespace verso {

inline constexpr std::string_view kOfProbe =
    "Each picture is one pair of the probe: sentences that the run looks at from time to time "
    "without training on them.";
inline constexpr std::string_view kOfPairs = "Each picture is one pair.";

inline constexpr std::string_view kExplanation =
    R"html( Rows are target words, columns source words. <b>alpha</b> says how much of a source
word's state <i>h<sub>j</sub></i> goes into the context
<i>c<sub>t</sub></i> = Σ<sub>j</sub> alpha<sub>tj</sub> <i>h<sub>j</sub></i>, from which the target word of
that row is predicted. A row of alpha adds up to 1; before training it is nearly uniform. Framed cells are
gold links where there are some (broken lines: possible ones).</p>
<p>The loss of a pair is <i>L</i> = −log p(target | source). <b>g</b> = d<i>L</i>/dalpha says how
<i>L</i> would change, for each unit, if that weight grew a little and all else stayed. But all else cannot stay: a
row keeps adding up to 1, so that more for one word is less for the others. What counts is the
<b>advantage</b>, g − Σ<sub>k</sub> alpha<sub>k</sub> g<sub>k</sub>: how g differs from the mean of its row.
The energies <i>e</i>, of which softmax makes alpha, get
d<i>L</i>/d<i>e</i> = alpha · advantage. Gradient descent steps against the gradient, so it moves weight
to where the advantage is negative (a little more there makes the translation likelier) and takes it from where it is
positive; where alpha is next to 0, even a large advantage moves little. The <b>posterior</b>,
alpha · exp(−advantage) with each row made to add up to 1, is what Bayes' rule makes of alpha, to first order, once
the target word is known: where the model had better looked. From a model that learned from text
alone, links are best read there (<code>verso align --attention posterior</code>, which does the same for each piece of a word
before pieces become words).</p>
<p>Bars right of a row: |d<i>L</i>/d<i>c<sub>t</sub></i>|, how strongly that target word asks for another
context. Bars below a column: |d<i>L</i>/d<i>h<sub>j</sub></i>|, the gradient that reaches a source
word's state, in the colours of the paths on which it came: as a value that contexts sum up, as a key that
energies are made of, through the decoder's start state, or through the encoder's recurrence from neighbouring states.
The shares add up to 1; one that works against the sum of all is negative.</p>
)html";

inline constexpr std::string_view kControls = R"html(<div id="controls">
<div class="time">
<button type="button" id="play">Play</button>
<input type="range" id="slider" min="0" value="0" step="1" aria-label="update"/>
<output id="update" for="slider"></output>
</div>
<fieldset>
<legend>Colour</legend>
<label><input type="radio" name="colour" value="alpha" checked="checked"/> alpha</label>
<label><input type="radio" name="colour" value="advantage"/> advantage</label>
<label><input type="radio" name="colour" value="push"/> alpha · advantage</label>
<label><input type="radio" name="colour" value="posterior"/> posterior</label>
</fieldset>
</div>
)html";

}  // namespace verso
